#include "store/batch.hpp"

#include <algorithm>
#include <cstring>

#include "memory/streaming_copy.hpp"
#include "store/failure.hpp"
#include "store/pipeline.hpp"
#include "store/worker_loop.hpp"
#include "zarrive/byte_sink.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {
namespace store {

std::uint64_t expected_bytes(const GetRequest& request) {
  if (wants_whole(request)) return request.context ? request.context->expected_size.value_or(0) : 0;
  std::uint64_t sum = 0;
  for (const ByteRange& r : request.ranges) {
    if (r.kind != ByteRange::Kind::range && r.kind != ByteRange::Kind::suffix) return 0;
    // Hostile lengths are cut to the value later; here they only must not wrap.
    sum = checked_add(sum, r.length).value_or(~std::uint64_t{0});
  }
  return sum;
}

std::uint64_t bytes_of(const GetResult& result) {
  if (result.placed) return result.total_size.value_or(0);
  std::uint64_t sum = 0;
  for (const Buffer& b : result.values) sum += b.size();
  return sum;
}

bool wants_whole(const GetRequest& request) {
  return request.ranges.empty() ||
         (request.ranges.size() == 1 && request.ranges[0].kind == ByteRange::Kind::whole);
}

std::span<std::byte> placement(const GetRequest& request, std::uint64_t size) {
  if (!request.context || !request.context->destination || size == 0 || !wants_whole(request)) return {};
  const ArrayView& to = *request.context->destination;
  if (!to.space.host_accessible() || to.data == nullptr || to.type.item_size() == 0 || !to.is_contiguous())
    return {};
  if (to.nbytes() != size) return {};
  return {to.data, static_cast<std::size_t>(size)};
}

bool takes_rows(const GetRequest& request, std::uint64_t size) {
  // Shorter rows are better scattered by elements, once the value is decoded whole.
  constexpr std::size_t kMinRow = 64;
  if (!request.context || !request.context->destination || size == 0 || !wants_whole(request)) return false;
  const ArrayView& to = *request.context->destination;
  return to.space.host_accessible() && to.data != nullptr && !to.type.is_variable() &&
         to.type.item_size() != 0 && to.nbytes() == size && ByteSink::run_size(to) >= kMinRow;
}

Buffer allocate_value(const Context* context, std::size_t size) {
  // What goes on to a device from here goes twice as fast from pinned memory. That comes in large blocks.
  constexpr std::size_t kWorthPinning = 64 << 10;
  if (context && context->prototype && !context->prototype->space.host_accessible() && size >= kWorthPinning)
    return Buffer::allocate(size, pinned());
  if (context && context->prototype && context->prototype->space.host_accessible() &&
      (context->prototype->allocator || context->prototype->space.kind != MemoryKind::host))
    return Buffer::allocate(size, *context->prototype);
  return Buffer::allocate(size, {.space = {}, .allocator = pool_allocator()});
}

GetResult result_from_value(const GetRequest& request, const Buffer& value, Generation generation) {
  GetResult result;
  result.status = GetStatus::found;
  result.total_size = value.size();
  result.generation = std::move(generation);
  if (wants_whole(request)) {
    if (!value.space().host_accessible()) {
      result.values.push_back(value);
      return result;
    }
    if (const std::span<std::byte> to = placement(request, value.size()); !to.empty()) {
      detail::copy_large(to.data(), value.host_span().data(), to.size());
      result.values.push_back(Buffer::borrow(to, request.context->destination->space));
      result.placed = true;
      return result;
    }
    const Context* context = request.context;
    const bool own_memory = context && context->prototype && context->prototype->space.host_accessible() &&
                            (context->prototype->allocator || context->prototype->space != value.space());
    if (own_memory && !value.empty()) {
      Buffer copy = allocate_value(context, value.size());
      std::memcpy(copy.mutable_data(), value.host_span().data(), value.size());
      result.values.push_back(std::move(copy));
    } else {
      result.values.push_back(value);
    }
    return result;
  }
  result.values.reserve(request.ranges.size());
  for (const ByteRange& range : request.ranges) {
    const ByteRange::Resolved at = range.resolve(value.size());
    result.values.push_back(value.slice(at.offset, at.length));
  }
  return result;
}

namespace {

GetResult failed(std::exception_ptr error) {
  GetResult result;
  result.status = GetStatus::error;
  result.error = std::move(error);
  return result;
}

// The promises of GetResult, checked once for every store.
GetResult checked(GetResult result, const GetRequest& request, const std::string& store) {
  if (result.status == GetStatus::error)
    return failed(placed(result.error ? result.error
                                      : std::make_exception_ptr(
                                            Error(ErrorCode::internal, "the store failed without an error")),
                         store, request.key));
  const std::size_t expected = std::max<std::size_t>(1, request.ranges.size());
  if (result.status == GetStatus::found && result.values.size() != expected)
    return failed(std::make_exception_ptr(Error(ErrorCode::internal,
                                                "the store returned " + std::to_string(result.values.size()) +
                                                    " values for " + std::to_string(expected) + " ranges",
                                                {.store = store, .node = {}, .key = request.key})));
  return result;
}

// A failure is the result.
GetResult read_checked(const ReadOne& read, const GetRequest& request, const std::string& store) {
  try {
    return checked(read(request), request, store);
  } catch (...) {
    return failed(placed(std::current_exception(), store, request.key));
  }
}

constexpr std::size_t kAllIoThreads = 0;

std::size_t io_requests(std::size_t asked) {
  return asked != kAllIoThreads ? asked : Executor::global().io_threads();
}

}  // namespace

void get_by_workers(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options,
                    const std::string& store, const ReadOne& read) {
  const WorkerLimits limits{options.max_concurrency, options.max_bytes_in_flight, options.stop};
  run_workers(
      batch.size(), limits, [&](std::size_t i) { return expected_bytes(batch[i]); },
      [&](std::size_t i, HeldBytes& held) {
        GetResult result = read_checked(read, batch[i], store);
        held.now(bytes_of(result));
        sink(i, std::move(result));
      });
}

}  // namespace store

void Store::do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) {
  const std::string store_name = name();
  const auto read_one = [this](const GetRequest& request) { return do_get_one(request); };
  if (!capabilities().waits || batch.size() == 1)
    return store::get_by_workers(batch, sink, options, store_name, read_one);
  auto estimate = [&](std::size_t i) { return store::expected_bytes(batch[i]); };
  auto pipeline = store::Pipeline::make(
      batch.size(), {store::io_requests(options.max_concurrency), options.max_bytes_in_flight, options.stop},
      estimate);
  // The steps run while this call waits, so they may refer to its locals.
  pipeline->run([&, p = pipeline.get()](std::size_t i) {
    p->to_io(i, [&, p, i] {
      auto result = std::make_shared<GetResult>(store::read_checked(read_one, batch[i], store_name));
      p->resize(i, store::bytes_of(*result));
      p->to_compute(i, [&, p, i, result] {
        sink(i, std::move(*result));
        p->finished(i);
      });
    });
  });
}

void Store::do_set(std::span<const SetRequest> batch, const SetOptions& options) {
  const std::string store_name = name();
  const Durability durability = options.durability.value_or(default_durability());
  auto produce = [&](const SetRequest& request) -> std::optional<Buffer> {
    try {
      return request.produce();
    } catch (...) {
      std::rethrow_exception(store::placed_if_error(std::current_exception(), store_name, request.key));
    }
  };
  auto write = [&](const SetRequest& request, const std::optional<Buffer>& value) {
    try {
      if (value) {
        do_set_one(request.key, *value, request.context, durability);
      } else {
        do_erase_one(request.key);
      }
    } catch (...) {
      std::rethrow_exception(store::placed(std::current_exception(), store_name, request.key));
    }
  };
  auto estimate = [&](std::size_t i) -> std::uint64_t {
    if (!batch[i].produce) return batch[i].value.size();
    return batch[i].context ? batch[i].context->expected_size.value_or(0) : 0;
  };

  if (!capabilities().waits || batch.size() == 1) {
    const store::WorkerLimits limits{options.max_concurrency, options.max_bytes_in_flight, options.stop};
    store::run_workers(batch.size(), limits, estimate, [&](std::size_t i, store::HeldBytes& held) {
      if (!batch[i].produce) return write(batch[i], batch[i].value);
      const std::optional<Buffer> value = produce(batch[i]);
      held.now(value ? value->size() : 0);
      write(batch[i], value);
    });
  } else {
    auto pipeline = store::Pipeline::make(
        batch.size(),
        {store::io_requests(options.max_concurrency), options.max_bytes_in_flight, options.stop}, estimate);
    pipeline->run([&, p = pipeline.get()](std::size_t i) {
      auto send = [&, p, i](std::optional<Buffer> value) {
        p->to_io(i, [&, p, i, value = std::move(value)] {
          write(batch[i], value);
          p->finished(i);
        });
      };
      if (!batch[i].produce) return send(batch[i].value);
      p->to_compute(i, [&, p, i, send] {
        std::optional<Buffer> value = produce(batch[i]);
        p->resize(i, value ? value->size() : 0);
        send(std::move(value));
      });
    });
  }
  if (durability == Durability::batch) finish_batch(durability);
}

void Store::do_erase(std::span<const std::string> keys) {
  const std::string store_name = name();
  auto erase_one = [&](std::size_t i) {
    try {
      do_erase_one(keys[i]);
    } catch (...) {
      std::rethrow_exception(store::placed(std::current_exception(), store_name, keys[i]));
    }
  };
  auto no_bytes = [](std::size_t) -> std::uint64_t { return 0; };
  if (!capabilities().waits || keys.size() == 1) {
    store::run_workers(keys.size(), {}, no_bytes, [&](std::size_t i, store::HeldBytes&) { erase_one(i); });
    return;
  }
  auto pipeline =
      store::Pipeline::make(keys.size(), {store::io_requests(store::kAllIoThreads), 0, {}}, no_bytes);
  pipeline->run([&, p = pipeline.get()](std::size_t i) {
    p->to_io(i, [&, p, i] {
      erase_one(i);
      p->finished(i);
    });
  });
}

}  // namespace zarrive
