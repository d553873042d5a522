// bench_zarrive TASK ARRAY [OPTION...]: one task of the bench with Zarrive; see support/process.hpp for the options.
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "tasks/tasks.hpp"

namespace {

void run(const bench::Arguments& arguments) {
  static const std::map<std::string, void (*)(const bench::Arguments&)> tasks = {
      {"read_all", bench::read_all},
      {"read_into", bench::read_into},
      {"plane", bench::plane},
      {"gather", bench::gather},
      {"slices", bench::slices},
      {"read_chunks", bench::read_chunks},
      {"roundtrip", bench::roundtrip},
      {"read_subchunks", bench::read_subchunks},
      {"open", bench::open_consolidated},
      {"sharding_read", bench::sharding},
      {"sharding_write", bench::sharding},
      {"verify", bench::verify},
  };
  const auto task = tasks.find(arguments.task);
  if (task == tasks.end()) throw std::invalid_argument("no task " + arguments.task);
  ::setenv("ZARRIVE_NUM_THREADS", std::to_string(arguments.threads).c_str(), 1);
  task->second(arguments);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_zarrive", argc, argv, run); }
