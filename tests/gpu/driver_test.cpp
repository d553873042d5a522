// Finding the driver, and saying why there is none.
#include "gpu/driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "base/sanitizers.hpp"
#include "fakes/fake_cuda.hpp"
#include "gpu/device.hpp"
#include "gpu/fake_driver.hpp"
#include "support/errors.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu {
namespace {

TEST(CudaDriver, IsFound) {
  const DriverStatus& status = driver_status();
  ASSERT_NE(status.driver, nullptr) << status.reason;
  EXPECT_EQ(status.path, testing::fake_driver_path());
  EXPECT_EQ(status.reason, "");
  EXPECT_EQ(&driver(), status.driver);
  EXPECT_EQ(driver().version, 13000);
  EXPECT_EQ(driver().devices, 2);

  const SystemInfo system = system_info();
  EXPECT_EQ(system.driver.version, "13.0");
  ASSERT_EQ(system.devices.size(), 2u);
  EXPECT_EQ(system.devices[1].ordinal, 1);
  EXPECT_EQ(system.devices[1].name, "Fake device 1");
  EXPECT_EQ(system.devices[1].compute_major, 9);
  EXPECT_EQ(system.devices[1].multiprocessors, 132);
  EXPECT_EQ(system.devices[1].memory_bytes, std::uint64_t{1} << 30);
}

TEST(CudaDriver, AStreamOfTheCallersIsWaitedFor) {
  const Device& device = Device::get(1);
  Buffer there = Buffer::allocate(4, cuda(1));
  const auto found = [&] {
    std::array<char, 4> bytes{};
    fake_cuda::peek(bytes.data(), reinterpret_cast<std::uintptr_t>(there.data()), bytes.size());
    return std::string(bytes.data(), bytes.size());
  };
  const Stream stream(device);
  for (CudaStream used : {stream.handle(), CudaStream{}}) {
    const std::string bytes = used ? "abcd" : "efgh";
    copy_to_device(device, there.mutable_data(), reinterpret_cast<const std::byte*>(bytes.data()), 4, used);
    EXPECT_NE(found(), bytes);  // streams of the fake driver do nothing until somebody waits
    synchronize(1, used);
    EXPECT_EQ(found(), bytes);
  }
  EXPECT_EQ(zarrive::testing::code_of([] { synchronize(7, nullptr); }), ErrorCode::invalid_argument);
}

TEST(CudaDriver, WordsItsErrors) {
  EXPECT_EQ(result_text(driver(), cuda_out_of_memory), "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  EXPECT_EQ(result_text(driver(), 12345), "CUDA error 12345");
  try {
    check(driver(), cuda_out_of_memory, "pinning 5 bytes");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_EQ(error.message(), "pinning 5 bytes: CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  }
  try {
    check(driver(), cuda_invalid_value, "copying");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

TEST(CudaDriver, AForkedChildHasNone) {
  if (ZARRIVE_TSAN) GTEST_SKIP() << "TSan lets no thread start in a forked child";
  ASSERT_NE(driver_status().driver, nullptr);
  EXPECT_TRUE(testing::in_child([] {
    const DriverStatus& status = driver_status();
    return !status.driver && status.reason.find("forked") != std::string::npos &&
           testing::refused([] { Device::get(0); });
  }));
}

using testing::info;

class CudaDriverReasons : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!*testing::program_path()) GTEST_SKIP() << "the command is not built";
  }
};

TEST_F(CudaDriverReasons, AllIsWell) {
  const std::string text = info("");
  EXPECT_EQ(text.find("driver      13.0, "), 0u) << text;
  EXPECT_NE(text.find("cuda:1      Fake device 1, compute capability 9.0, 132 multiprocessors, 1.0 GiB\n"
                      "  engine    none: the device has none\n"),
            std::string::npos)
      << text;
  const std::string json = info("", "--json");
  EXPECT_NE(json.find("\"space\": \"cuda:1\""), std::string::npos) << json;
}

TEST_F(CudaDriverReasons, Engines) {
  EXPECT_EQ(testing::info_line("FAKE_CUDA_DECOMPRESS=7", "  engine"),
            "  engine    deflate, snappy, lz4, streams of up to 4.0 MiB");
  EXPECT_EQ(testing::info_line("FAKE_CUDA_DECOMPRESS=4", "  engine"),
            "  engine    lz4, streams of up to 4.0 MiB");
  EXPECT_EQ(testing::info_line("FAKE_CUDA_DECOMPRESS=7 ZARRIVE_GPU_ENGINE=off", "  engine"),
            "  engine    none: switched off by ZARRIVE_GPU_ENGINE=off");
  const std::string json = info("FAKE_CUDA_DECOMPRESS=5", "--json");
  EXPECT_NE(json.find("\"lz4\""), std::string::npos) << json;
  EXPECT_EQ(json.find("\"snappy\""), std::string::npos) << json;
}

TEST_F(CudaDriverReasons, NoneThatCanBeUsed) {
  const auto expect = [](const std::string& settings, const std::string& reason) {
    const std::string text = info(settings);
    EXPECT_EQ(text.find("driver      none: "), 0u) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_EQ(text.find("cuda:"), std::string::npos) << text;
  };
  expect("ZARRIVE_LIBCUDA=none", "switched off by ZARRIVE_LIBCUDA=none");
  expect("ZARRIVE_LIBCUDA=/nowhere/libcuda.so.1", "no CUDA driver: /nowhere/libcuda.so.1: cannot open");
  expect("ZARRIVE_LIBCUDA=libz.so.1", "libz.so.1 has no function cuInit");
  expect("FAKE_CUDA_INIT=34", "is the toolkit's stub");
  expect("FAKE_CUDA_INIT=999", "cuInit of ");
  expect("FAKE_CUDA_INIT=100", "sees no device");
  expect("FAKE_CUDA_DEVICES=0", "sees no device");
  expect("FAKE_CUDA_VERSION=11080", "is of version 11.8; 12.0 or newer is needed");
}

TEST_F(CudaDriverReasons, TheToolkitsStub) {
  const std::string stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << "there is no CUDA toolkit here";
  EXPECT_NE(info("ZARRIVE_LIBCUDA=" + stub).find("is the toolkit's stub"), std::string::npos);
}

}  // namespace
}  // namespace zarrive::gpu
