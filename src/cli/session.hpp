// What every command works with: its streams, the options that all commands share, and how it is told to stop.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

#include "zarrive/array.hpp"
#include "zarrive/group.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive::cli {

// The exit codes of the command.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_interrupted = 130;

// Thrown by an output whose reader has gone (`zarrive read ... | head`): the command ends quietly, with success.
struct ClosedPipe {};

// The command line asks for something that does not go together; ends with exit code 2 and a hint.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int width = 80;  // of the terminal, in columns
  std::stop_token stop = {};
};

class Session {
 public:
  explicit Session(const Streams& streams) : streams_(streams) {}

  std::istream& in() const { return streams_.in; }
  std::ostream& out() const { return streams_.out; }
  std::ostream& err() const { return streams_.err; }
  const Streams& streams() const { return streams_; }
  const std::stop_token& stop() const { return streams_.stop; }
  void check_stop() const;  // Error(cancelled) when asked to stop

  // Set by the options that all commands take.
  bool strict = false;
  bool quiet = false;
  std::size_t jobs = 0;

  // The options of the library with what the command line says about them.
  MetadataOptions metadata_options();
  OpenOptions open_options();
  GroupOpenOptions group_options();
  ReadOptions read_options() const;
  WriteOptions write_options() const;

  // One line on the error stream, each sentence once.
  void warn(const std::string& sentence);

 private:
  Streams streams_;
  std::mutex warned_mutex_;
  std::set<std::string, std::less<>> warned_;
};

std::shared_ptr<Store> open_to_read(const std::string& url);
std::shared_ptr<Store> open_to_write(const std::string& url);   // must exist
std::shared_ptr<Store> open_to_create(const std::string& url);  // made when it is not there

}  // namespace zarrive::cli
