// Where results go: standard output by its descriptor, and files that appear whole or not at all.
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <ostream>
#include <span>
#include <stop_token>
#include <streambuf>
#include <string>

namespace zarrive::cli {

// A buffer over a file descriptor. A reader that has gone is ClosedPipe, a stop Error(cancelled), anything else Error(unavailable). A stream
// over it needs exceptions(std::ios::badbit), or it would swallow these.
class DescriptorBuffer final : public std::streambuf {
 public:
  DescriptorBuffer(int descriptor, std::string name, std::stop_token stop = {});
  ~DescriptorBuffer() override = default;  // what is not flushed is lost: destructors do not throw

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void write(const char* text, std::size_t size);
  void flush_buffer();
  int descriptor_;
  std::string name_;
  std::stop_token stop_;
  std::array<char, 1 << 16> buffer_;
};

// A file that is written beside its place and moved there when done: readers see the old one or the new one. Unless commit() is
// called the temporary file goes away, also when the process is ended by force through abandon_output_files(). What is there and no regular
// file (/dev/null, a pipe) is written directly.
class OutputFile {
 public:
  OutputFile(const std::string& path, std::stop_token stop);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return *stream_; }
  bool is_regular() const { return !temporary_.empty(); }
  // The file's bytes [0, size) in memory, to be written there; nullptr when that cannot be (then use the stream). Kept until commit.
  std::byte* map(std::size_t size);
  void commit();

 private:
  std::string path_;
  std::string temporary_;  // empty: written directly
  int descriptor_ = -1;
  std::unique_ptr<DescriptorBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
};

// Removes the temporary files that exist now; for a process that cannot wait for its destructors.
void abandon_output_files() noexcept;

// While one exists, half-made nodes of a store are being removed, which is worth waiting for.
class Tidying {
 public:
  Tidying() noexcept;
  ~Tidying();
  Tidying(const Tidying&) = delete;
  Tidying& operator=(const Tidying&) = delete;
  static bool under_way() noexcept;
};

}  // namespace zarrive::cli
