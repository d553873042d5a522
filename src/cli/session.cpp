#include "cli/session.hpp"

#include <ostream>

#include "cli/text.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

void Session::check_stop() const {
  if (streams_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "interrupted");
}

MetadataOptions Session::metadata_options() {
  MetadataOptions options;
  options.strict = strict;
  options.warn = [this](const std::string& sentence) { warn(sentence); };
  return options;
}

OpenOptions Session::open_options() {
  OpenOptions options;
  options.metadata = metadata_options();
  return options;
}

GroupOpenOptions Session::group_options() {
  GroupOpenOptions options;
  options.metadata = metadata_options();
  return options;
}

ReadOptions Session::read_options() const {
  ReadOptions options;
  options.max_concurrency = jobs;
  options.stop = streams_.stop;
  return options;
}

WriteOptions Session::write_options() const {
  WriteOptions options;
  options.max_concurrency = jobs;
  options.stop = streams_.stop;
  return options;
}

void Session::warn(const std::string& sentence) {
  if (quiet) return;
  std::lock_guard lock(warned_mutex_);
  if (warned_.size() >= 1000 || !warned_.insert(sentence).second)
    return;  // a hostile store may warn without end
  err() << "zarrive: warning: " << printable(sentence) << '\n';
}

}  // namespace zarrive::cli
