// The tests of this folder use the fake driver, cuFile and nvCOMP, wherever they run.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fakes/fake_cuda.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::gpu::testing {

const char* fake_driver_path();
const char* fake_cufile_path();
const char* fake_old_cufile_path();  // cuFile 1.13
const char* fake_nvcomp_path();
const char* program_path();  // of the command; empty when it is not built

// What `zarrive info --gpu` says in a process of its own, under these settings ("NAME=value"); and its line about one thing.
std::string info(const std::string& settings, const std::string& options = {});
std::string info_line(const std::string& settings, const std::string& what);

// Runs `body` in a forked child; true when it returned true within 20 seconds.
bool in_child(const std::function<bool()>& body);
// Whether it throws ErrorCode::unsupported, as what a forked child cannot do does.
bool refused(const std::function<void()>& act);

// Nothing is left over of the driver's things, and nothing was called wrongly.
class Balanced : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  fake_cuda::Counts before_ = {};
};

// What lies in device memory now, without waiting for any stream.
std::vector<std::byte> peek(const std::byte* device_data, std::size_t size);
// Counts made with 1, 2, 3, ... from `seed`.
std::vector<std::byte> counting(std::size_t size, unsigned seed = 0);

}  // namespace zarrive::gpu::testing
