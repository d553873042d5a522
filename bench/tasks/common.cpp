#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "tasks/tasks.hpp"

namespace bench {

zarrive::Array open_bench_array(const Arguments& arguments) { return zarrive::open_array(arguments.path()); }

zarrive::ReadOptions read_options(const Arguments& arguments) {
  zarrive::ReadOptions options;
  options.max_concurrency = arguments.threads;
  return options;
}

zarrive::WriteOptions write_options(const Arguments& arguments) {
  zarrive::WriteOptions options;
  options.max_concurrency = arguments.threads;
  return options;
}

void for_each_concurrently(std::size_t items, std::size_t concurrency,
                           const std::function<void(std::size_t worker, std::size_t item)>& body) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex error_mutex;
  auto work = [&](std::size_t worker) {
    try {
      for (std::size_t i = next++; i < items; i = next++) body(worker, i);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      error = std::current_exception();
      next = items;
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t t = 1; t < concurrency; ++t) workers.emplace_back(work, t);
  work(0);
  for (std::thread& worker : workers) worker.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace bench
