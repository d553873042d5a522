#include "gpu/fake_driver.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "support/shell.hpp"
#include "zarrive/error.hpp"

#if defined(ZARRIVE_COVERAGE)
extern "C" void __gcov_dump();
#endif

namespace zarrive::gpu::testing {

namespace {

// For a test that runs its program again, without one of them: TEST_NVCOMP=none.
const char* or_fake(const char* setting, const char* fake) {
  const char* const other = std::getenv(setting);
  return other ? other : fake;
}

// Before main, and so before anything asks for a driver.
[[maybe_unused]] const bool chosen =
    ::setenv("ZARRIVE_LIBCUDA", ZARRIVE_FAKE_CUDA, 1) == 0 &&
    ::setenv("ZARRIVE_LIBCUFILE", ZARRIVE_FAKE_CUFILE, 1) == 0 &&
    ::setenv("ZARRIVE_LIBNVCOMP", or_fake("TEST_NVCOMP", ZARRIVE_FAKE_NVCOMP), 1) == 0;
// Any file will do for the fake driver: it has the kernels itself, also where nvcc was not found.
[[maybe_unused]] const bool kernels_chosen =
    ::setenv("ZARRIVE_GPU_KERNELS", or_fake("TEST_KERNELS", ZARRIVE_FAKE_CUDA), 1) == 0;

}  // namespace

const char* fake_driver_path() { return ZARRIVE_FAKE_CUDA; }
const char* fake_cufile_path() { return ZARRIVE_FAKE_CUFILE; }
const char* fake_old_cufile_path() { return ZARRIVE_FAKE_CUFILE_OLD; }
const char* fake_nvcomp_path() { return ZARRIVE_FAKE_NVCOMP; }
const char* program_path() { return ZARRIVE_PROGRAM; }

std::string info(const std::string& settings, const std::string& options) {
  const zarrive::testing::ShellOutcome outcome =
      zarrive::testing::shell(program_path(), settings + " \"$ZARRIVE\" info --gpu " + options);
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  return outcome.out;
}

std::string info_line(const std::string& settings, const std::string& what) {
  const std::string text = '\n' + info(settings);
  const std::size_t at = text.find('\n' + what);
  if (at == std::string::npos) return "nothing about " + what + " in" + text;
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

bool in_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const bool good = body();
#if defined(ZARRIVE_COVERAGE)
    __gcov_dump();
#endif
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool refused(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code() == ErrorCode::unsupported;
  }
  return false;
}

void Balanced::SetUp() {
  fake_cuda::reset_counts();
  before_ = fake_cuda::counts();
}

void Balanced::TearDown() {
  const fake_cuda::Counts after = fake_cuda::counts();
  EXPECT_EQ(after.allocations, before_.allocations);
  EXPECT_EQ(after.streams, before_.streams);
  EXPECT_EQ(after.events, before_.events);
  EXPECT_EQ(after.bad_calls, 0);
  EXPECT_EQ(after.contexts_pushed, 0);
}

std::vector<std::byte> peek(const std::byte* device_data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  fake_cuda::peek(bytes.data(), reinterpret_cast<std::uintptr_t>(device_data), size);
  return bytes;
}

std::vector<std::byte> counting(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return bytes;
}

}  // namespace zarrive::gpu::testing
