// Finding the kernels' image, and saying why there is none.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fakes/fake_cuda.hpp"
#include "gpu/fake_driver.hpp"
#include "gpu/kernel_image.hpp"
#include "gpu/kernels.hpp"

namespace zarrive::gpu {
namespace {

// In a process of its own, for kernels are loaded once: prints what happens.
void say(const char* image, const char* failing, int result) {
  if (image) ::setenv("ZARRIVE_GPU_KERNELS", image, 1);
  else ::unsetenv("ZARRIVE_GPU_KERNELS");
  if (failing) fake_cuda::fail(failing, result, 0);
  try {
    Kernels::get();
    std::fprintf(stderr, "loaded\n");
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (failing) {  // which need not fail again
      Kernels::get();
      std::fprintf(stderr, "loaded then\n");
    }
  }
  std::_Exit(0);
}

TEST(KernelsDeathTest, SayWhyThereAreNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exits = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(say("/nowhere/kernels.fatbin", nullptr, 0), exits,
              "unsupported.*the GPU kernels in /nowhere/kernels.fatbin .ZARRIVE_GPU_KERNELS. cannot be read");
  EXPECT_EXIT(say("/dev/null", nullptr, 0), exits, "or are empty");
  EXPECT_EXIT(say(testing::fake_driver_path(), "cuLibraryLoadData", 209), exits,
              "have no code for these devices\nloaded then");
  EXPECT_EXIT(say(testing::fake_driver_path(), "cuLibraryLoadData", 2), exits,
              "resource_limit.*loading the GPU kernels");
  EXPECT_EXIT(say(testing::fake_driver_path(), "cuLibraryGetKernel", 500), exits,
              "finding zarrive_decode_streams among the GPU kernels in .*CUDA_ERROR_NOT_FOUND");
  EXPECT_EXIT(say(nullptr, nullptr, 0), exits,
              built_in_kernels().empty()
                  ? "this build has no GPU kernels: nvcc was not found when it was built"
                  : "^loaded");
}

TEST(Kernels, TheBuiltInImageIsOne) {
  if (built_in_kernels().empty()) GTEST_SKIP() << "nvcc was not found when this was built";
  const std::byte magic[] = {std::byte{0x50}, std::byte{0xED}, std::byte{0x55}, std::byte{0xBA}};
  ASSERT_GT(built_in_kernels().size(), 4096u);
  EXPECT_TRUE(std::equal(std::begin(magic), std::end(magic), built_in_kernels().begin()));
}

}  // namespace
}  // namespace zarrive::gpu
