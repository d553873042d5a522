// Reading files into device memory by cuFile (GPUDirect Storage), found at run time.
//
// cuFile moves bytes from the disk to the device without the host's memory in two ways: by the kernel module nvidia-fs, or by the kernel's
// own PCI P2PDMA. Where neither can be had it has a third, its compatibility mode: a silent pread and copy, slower than our own pinned
// path. That mode is never used: it is switched off before cuFile starts, and where it cannot be switched off cuFile counts as absent.
// With it off, registering a file that cannot be read directly fails, and the caller takes the pinned path.
//
// The switch is one of the process: other users of cuFile in it find compatibility mode off, too, when we came first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gpu/cufile_api.hpp"
#include "gpu/device.hpp"

namespace zarrive::gpu {

struct Cufile {
#define ZARRIVE_CUFILE_MEMBER(member, name, result, parameters) result(*member) parameters = nullptr;
  ZARRIVE_CUFILE_FUNCTIONS(ZARRIVE_CUFILE_MEMBER)
  ZARRIVE_CUFILE_PARAMETER_FUNCTIONS(ZARRIVE_CUFILE_MEMBER)  // null before cuFile 1.14
#undef ZARRIVE_CUFILE_MEMBER
  int version = 0;  // 1150 is cuFile 1.15
};

// What loading it came to: `library` is null when it cannot be used, and `reason` then says why.
struct CufileStatus {
  const Cufile* library = nullptr;
  std::string path = {};
  std::string version = {};  // "1.15", as far as it was found out
  std::string reason = {};
};

// Loaded and started by the first call in a process. It needs the CUDA driver, and like that does not live through a fork. The environment
// variable ZARRIVE_LIBCUFILE names another library, or "none". (cuFile itself writes a file cufile.log into the current folder, unless the
// environment variable CUFILE_LOGFILE_PATH or its configuration say where.)
const CufileStatus& cufile_status();

// "CU_FILE_IO_ERROR (5044)" of 5044.
std::string cufile_error_text(int error);

// A file that cuFile has registered.
class CufileFile {
 public:
  ~CufileFile();
  CufileFile(const CufileFile&) = delete;
  CufileFile& operator=(const CufileFile&) = delete;

  // Reads from `offset` of the file into memory of the device, from any thread and several at a time; returns when the bytes are there.
  // How many there were: less than `size` at the end of the file only. Error(unavailable, resource_limit) with what cuFile said.
  //
  // No stream knows of it. The caller sees to it that whatever streams were given to do with this memory is done before (an event that was
  // waited for; or fresh memory), and may put work on the bytes into any stream afterwards. Offsets, sizes and addresses that are multiples
  // of 4096 go to the device directly, others through a buffer of cuFile's on the device.
  std::size_t read(const Device& device, std::byte* to, std::size_t size, std::uint64_t offset) const;

 private:
  friend struct CufileFiles;
  CufileFile(const Cufile& library, int fd, CufileHandle handle)
      : library_(library), fd_(fd), handle_(handle) {}
  const Cufile& library_;
  int fd_;
  CufileHandle handle_;
};

// `file` is null when cuFile does not read this file, and `reason` then says why; the pinned path reads it.
struct CufileOpening {
  std::shared_ptr<const CufileFile> file = {};
  std::string reason = {};
};

// The file that `fd` has open for reading; the descriptor stays the caller's and may be closed at once. Not registered: what is no regular
// file, what lies in memory (tmpfs: cuFile fails there or gives zeros), and what a file system without direct I/O or without a way to the
// device holds; such a file system is not asked a second time.
//
// Registering takes about a millisecond, so the last 64 files stay registered, known by device and inode and taken again when modification
// time and size are as they were. Each keeps a descriptor open, and with it the inode.
CufileOpening cufile_open(int fd);
// The same by path. Error(not_found, permission, unavailable) when it cannot be opened for reading at all.
CufileOpening cufile_open(const std::string& path);
// Forgets the files that are kept, and which file systems said no. Files in use stay as they are.
void cufile_forget();

}  // namespace zarrive::gpu
