// Reading files into device memory, on a fake of cuFile.
#include "gpu/cufile.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "base/sanitizers.hpp"
#include "fakes/fake_cufile.hpp"
#include "gpu/fake_driver.hpp"
#include "support/errors.hpp"
#include "zarrive/gpu.hpp"

namespace zarrive::gpu {
namespace {

using testing::counting;
using testing::info_line;
using testing::peek;
using zarrive::testing::code_of;

bool in_memory(const std::filesystem::path& path) {
  struct statfs system {};
  return ::statfs(path.c_str(), &system) != 0 || system.f_type == 0x01021994;
}

// A file in a folder that is on a disk; the folder for temporary files need not be.
class CufileTest : public testing::Balanced {
 protected:
  void SetUp() override {
    Balanced::SetUp();
    ASSERT_NE(cufile_status().library, nullptr) << cufile_status().reason;
    fake_cufile::reset_counts();
    ASSERT_EQ(fake_cufile::counts().handles, 0);
    for (const std::filesystem::path& folder :
         {std::filesystem::temp_directory_path(), std::filesystem::current_path(),
          std::filesystem::path("/var/tmp")})
      if (folder_.empty() && !in_memory(folder))
        folder_ = folder / ("zarrive-cufile-test-" + std::to_string(::getpid()));
    if (folder_.empty()) GTEST_SKIP() << "no folder here is on a disk";
    std::filesystem::create_directories(folder_);
    write("file", bytes_);
  }
  void TearDown() override {
    fake_cufile::read_at_most(0);
    cufile_forget();
    EXPECT_EQ(fake_cufile::counts().handles, 0);
    EXPECT_EQ(fake_cufile::counts().bad_calls, 0);
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    Balanced::TearDown();
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::vector<std::byte>& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::shared_ptr<const CufileFile> open(const std::string& name = "file") const {
    const CufileOpening opening = cufile_open(path(name));
    EXPECT_NE(opening.file, nullptr) << opening.reason;
    return opening.file;
  }
  std::vector<std::byte> part(std::size_t offset, std::size_t size) const {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
  }

  const std::vector<std::byte> bytes_ = counting(100'000);
  const Device& device_ = Device::get(0);
  std::filesystem::path folder_;
};

TEST_F(CufileTest, IsFound) {
  EXPECT_EQ(cufile_status().path, testing::fake_cufile_path());
  EXPECT_EQ(cufile_status().version, "1.15");
  EXPECT_EQ(cufile_status().reason, "");
  EXPECT_EQ(cufile_status().library->version, 1150);
  EXPECT_EQ(system_info().cufile.version, "1.15");
  EXPECT_EQ(cufile_error_text(5008), "CU_FILE_IO_NOT_SUPPORTED (5008)");
  EXPECT_EQ(cufile_error_text(5999), "cuFile error 5999");
}

TEST_F(CufileTest, ReadsIntoTheDevice) {
  const auto file = open();
  Buffer to = Buffer::allocate(bytes_.size(), cuda(0));
  EXPECT_EQ(file->read(device_, to.mutable_data(), bytes_.size(), 0), bytes_.size());
  EXPECT_EQ(peek(to.data(), bytes_.size()), bytes_);
  EXPECT_EQ(fake_cufile::counts().reads, 1);

  Buffer other = Buffer::allocate(1000, cuda(1));
  EXPECT_EQ(file->read(Device::get(1), other.mutable_data() + 10, 777, 12'345), 777u);
  EXPECT_EQ(peek(other.data() + 10, 777), part(12'345, 777));
  EXPECT_EQ(file->read(device_, nullptr, 0, 5), 0u);
  EXPECT_EQ(fake_cufile::counts().reads, 2) << "nothing is no call";
}

TEST_F(CufileTest, ShortReadsAreContinued) {
  fake_cufile::read_at_most(30'000);
  Buffer to = Buffer::allocate(bytes_.size(), cuda(0));
  EXPECT_EQ(open()->read(device_, to.mutable_data(), bytes_.size(), 0), bytes_.size());
  EXPECT_EQ(peek(to.data(), bytes_.size()), bytes_);
  EXPECT_EQ(fake_cufile::counts().reads, 4);
}

TEST_F(CufileTest, TheEndOfTheFileIsNoError) {
  const auto file = open();
  Buffer to = Buffer::allocate(5000, cuda(0));
  EXPECT_EQ(file->read(device_, to.mutable_data(), 5000, 99'000), 1000u);
  EXPECT_EQ(peek(to.data(), 1000), part(99'000, 1000));
  EXPECT_EQ(file->read(device_, to.mutable_data(), 5000, 100'000), 0u);
  EXPECT_EQ(file->read(device_, to.mutable_data(), 5000, 200'000), 0u);
}

TEST_F(CufileTest, SaysWhatWentWrong) {
  const auto file = open();
  Buffer to = Buffer::allocate(1000, cuda(0));
  const auto read = [&] { return file->read(device_, to.mutable_data(), 1000, 50); };
  const auto expect = [&](int result, ErrorCode code, const std::string& says) {
    fake_cuda::fail("cuFileRead", result, 0);
    EXPECT_ERROR(read(), code, says);
    EXPECT_EQ(read(), 1000u) << "the next try works";
  };
  expect(EIO, ErrorCode::unavailable, "cuFile reading 1000 bytes at 50 to cuda:0: Input/output error");
  expect(ENOMEM, ErrorCode::resource_limit, "Cannot allocate memory");
  expect(-5044, ErrorCode::unavailable, "cuda:0: CU_FILE_IO_ERROR (5044)");
  expect(-5043, ErrorCode::resource_limit, "CU_FILE_NOMEM_ERROR (5043)");
  expect(-5999, ErrorCode::unavailable, "cuFile error 5999");

  fake_cuda::fail("cuFileRead", EINTR, 0);
  EXPECT_EQ(read(), 1000u) << "interrupted, and tried again";
  fake_cufile::read_at_most(600);
  fake_cuda::fail("cuFileRead", -5044, 1);
  EXPECT_ERROR(read(), ErrorCode::unavailable, "CU_FILE_IO_ERROR");  // after a first part

  fake_cuda::fail("cuCtxPushCurrent_v2", 999, 0);
  EXPECT_EQ(code_of([&] { read(); }), ErrorCode::unavailable);
  const auto far = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t offset : {far, far / 2, far / 2 - 999})
    EXPECT_EQ(code_of([&] { file->read(device_, to.mutable_data(), 1000, offset); }),
              ErrorCode::invalid_argument);
}

TEST_F(CufileTest, FilesStayRegistered) {
  const auto first = open();
  EXPECT_EQ(open(), first);
  std::filesystem::create_hard_link(path("file"), path("other name"));
  EXPECT_EQ(open("other name"), first);
  EXPECT_EQ(fake_cufile::counts().registered, 1);

  write("file", counting(50));  // the same inode with another size
  const auto second = open();
  EXPECT_NE(second, first);
  EXPECT_EQ(fake_cufile::counts().handles, 2);
  std::filesystem::rename(path("file"), path("away"));
  write("file", counting(50));  // another inode under the same name
  EXPECT_NE(open(), second);
  EXPECT_EQ(open("away"), second);
  struct timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = 1000, .tv_nsec = 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path("away").c_str(), times, 0), 0);
  EXPECT_NE(open("away"), second) << "modified at another time";

  cufile_forget();
  EXPECT_EQ(fake_cufile::counts().handles, 2) << "those in use";
  Buffer to = Buffer::allocate(8, cuda(0));
  EXPECT_EQ(first->read(device_, to.mutable_data(), 8, 0), 8u);
}

TEST_F(CufileTest, NotMoreThan64FilesStay) {
  for (int i = 0; i < 70; ++i) {
    write(std::to_string(i), counting(10));
    open(std::to_string(i));
  }
  EXPECT_EQ(fake_cufile::counts().handles, 64);
  open("69");
  open("6");  // the oldest that is still there
  EXPECT_EQ(fake_cufile::counts().registered, 70);
  open("5");
  EXPECT_EQ(fake_cufile::counts().registered, 71);
  open("6");  // was used since, so another one went
  EXPECT_EQ(fake_cufile::counts().registered, 71);
}

TEST_F(CufileTest, WhatIsNotReadThisWay) {
  const auto reason = [](const std::string& path) {
    const CufileOpening opening = cufile_open(path);
    EXPECT_EQ(opening.file, nullptr);
    return opening.reason;
  };
  EXPECT_EQ(reason(folder_.string()), "it is not a regular file");
  EXPECT_EQ(reason("/dev/null"), "it is not a regular file");
  EXPECT_EQ(reason("/proc/self/status"), "the file system has no direct I/O");
  EXPECT_EQ(reason("/proc/self/maps"), "the file system has no direct I/O");
  EXPECT_EQ(cufile_open(-1).reason, "looking at the file: Bad file descriptor");
  EXPECT_EQ(code_of([&] { cufile_open(path("none")); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { cufile_open(path("file/none")); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { cufile_open(path(std::string(300, 'x'))); }), ErrorCode::unavailable);
  EXPECT_EQ(fake_cufile::counts().registered, 0);
  if (!in_memory("/dev/shm") || ::access("/dev/shm", W_OK) != 0) return;
  const std::string name = "/dev/shm/zarrive-cufile-test-" + std::to_string(::getpid());
  std::ofstream(name) << "text";
  EXPECT_EQ(reason(name), "the file lies in memory (tmpfs)");
  std::filesystem::remove(name);
}

TEST_F(CufileTest, AFileSystemThatCannotIsNotAskedAgain) {
  write("second", counting(10));
  fake_cuda::fail("cuFileHandleRegister", 5031, 0);
  EXPECT_EQ(cufile_open(path("file")).reason, "cuFileHandleRegister: CU_FILE_GETNEWFD_FAILED (5031)");
  EXPECT_NE(open(), nullptr) << "that may be another time";

  cufile_forget();
  fake_cuda::fail("cuFileHandleRegister", 5008, 0);
  EXPECT_EQ(cufile_open(path("file")).reason, "cuFileHandleRegister: CU_FILE_IO_NOT_SUPPORTED (5008)");
  EXPECT_EQ(cufile_open(path("second")).reason, "cuFileHandleRegister: CU_FILE_IO_NOT_SUPPORTED (5008)");
  cufile_forget();
  EXPECT_NE(open("second"), nullptr);
}

TEST_F(CufileTest, TheDescriptorStaysTheCallers) {
  const int fd = ::open(path("file").c_str(), O_RDONLY | O_CLOEXEC);
  const CufileOpening opening = cufile_open(fd);
  ASSERT_NE(opening.file, nullptr) << opening.reason;
  std::byte byte{};
  EXPECT_EQ(::pread(fd, &byte, 1, 7), 1) << "not for direct I/O";
  EXPECT_EQ(byte, bytes_[7]);
  EXPECT_EQ(::close(fd), 0);
  Buffer to = Buffer::allocate(8, cuda(0));
  EXPECT_EQ(opening.file->read(device_, to.mutable_data(), 8, 3), 8u);
  EXPECT_EQ(peek(to.data(), 8), part(3, 8));
}

TEST_F(CufileTest, ManyThreadsReadAtOnce) {
  Buffer to = Buffer::allocate(bytes_.size(), cuda(0));
  fake_cufile::read_at_most(1000);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        const std::size_t size = bytes_.size() / 8;
        EXPECT_EQ(open()->read(device_, to.mutable_data() + t * size, size, t * size), size);
      });
  }
  EXPECT_EQ(peek(to.data(), bytes_.size()), bytes_);
}

TEST_F(CufileTest, AForkedChildReadsNothing) {
  if (ZARRIVE_TSAN) GTEST_SKIP() << "TSan lets no thread start in a forked child";
  auto file = open();
  cufile_forget();
  Buffer to = Buffer::allocate(8, cuda(0));
  EXPECT_TRUE(testing::in_child([&] {
    const bool refused = testing::refused([&] { file->read(device_, to.mutable_data(), 8, 0); });
    const bool none = !cufile_status().library && !cufile_open(path("file")).file;
    cufile_forget();
    file.reset();
    return refused && none && fake_cufile::counts().handles == 1;
  }));
}

class CufileReasons : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!*testing::program_path()) GTEST_SKIP() << "the command is not built";
  }
  static void expect(const std::string& settings, const std::string& reason) {
    const std::string line = info_line(settings, "cufile");
    EXPECT_EQ(line.find("cufile      none: "), 0u) << line;
    EXPECT_NE(line.find(reason), std::string::npos) << line;
  }
  const std::string old_ = std::string("ZARRIVE_LIBCUFILE=") + testing::fake_old_cufile_path() + " ";
};

TEST_F(CufileReasons, AllIsWell) {
  EXPECT_EQ(info_line("", "cufile"), std::string("cufile      1.15, ") + testing::fake_cufile_path());
  EXPECT_EQ(info_line(old_ + "FAKE_CUFILE_CONFIGURED=1", "cufile"),
            std::string("cufile      1.13, ") + testing::fake_old_cufile_path());
  const std::string json = testing::info("", "--json");
  EXPECT_NE(json.find("\"cufile\": {\n    \"usable\": true"), std::string::npos) << json;
}

TEST_F(CufileReasons, NoneThatCanBeUsed) {
  expect("ZARRIVE_LIBCUDA=none", "it needs the CUDA driver");
  expect("ZARRIVE_LIBCUFILE=none", "switched off by ZARRIVE_LIBCUFILE=none");
  expect("ZARRIVE_LIBCUFILE=/nowhere/libcufile.so.0", "/nowhere/libcufile.so.0: cannot open");
  expect("ZARRIVE_LIBCUFILE=libz.so.1", "libz.so.1 has no function cuFileGetVersion, which cuFile 1.7 has");
  expect("FAKE_CUFILE_VERSION=1060", "is of version 1.6; 1.7 or newer is needed");
  expect("FAKE_cuFileGetVersion=5005", "CU_FILE_DRIVER_VERSION_READ_ERROR (5005)");
  expect("FAKE_cuFileDriverOpen=5001", "cuFileDriverOpen of ");
  expect("FAKE_cuFileDriverOpen=5001", "CU_FILE_DRIVER_NOT_INITIALIZED (5001)");
  expect("FAKE_cuFileDriverOpen=5011",
         "CU_FILE_CUDA_DRIVER_ERROR (5011), CUDA_ERROR_OUT_OF_MEMORY: out of memory");
}

TEST_F(CufileReasons, CompatibilityModeIsNotUsed) {
  expect("FAKE_CUFILE_FORCED=1", "forces compatibility mode");
  expect("FAKE_CUFILE_BUSY=1", "its compatibility mode could not be switched off");
  expect("FAKE_cuFileSetParameterBool=5022", "its compatibility mode could not be switched off");
  expect(old_,
         "cannot be kept from compatibility mode by a program; set properties.allow_compat_mode to false");
  expect("FAKE_cuFileGetParameterBool=5022 FAKE_cuFileDriverGetProperties=5002",
         "cuFileDriverGetProperties: CU_FILE_DRIVER_INVALID_PROPS (5002)");
  EXPECT_EQ(info_line("FAKE_cuFileGetParameterBool=5022", "cufile").find("cufile      1.15, "), 0u)
      << "the properties say so, too";
}

}  // namespace
}  // namespace zarrive::gpu
