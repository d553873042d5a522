#include "array/rounds.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "array/transfer.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {
namespace {

// A value that another process rewrites again and again is given up after this many begins.
constexpr int kMostBegins = 8;
// Ranges of one value go to the store as requests of about this many bytes, so that they are read and decoded by several workers, from the
// cache. Opening a file again costs 5 us, reading and decoding so much 50 us and more. A round of few requests is cut finer, by the bytes
// that come out of them, so that all workers have something to do. Stores that wait have other costs.
constexpr std::uint64_t kRequestBytes = 256 << 10;
constexpr std::uint64_t kRequestsPerWorker = 4;
constexpr std::uint64_t kWaitingRequestBytes = 4 << 20;

constexpr std::uint64_t kWorthOwnRead = 16 << 10;

// A value on its way.
struct Value {
  RoundItem* item = nullptr;
  std::unique_ptr<PartialDecode> decode = {};  // null: read whole
  std::vector<WantedBytes> wanted = {};
  bool from_memo = false;
  int begins = 0;

  std::mutex mutex = {};
  bool seen = false;  // the generation is known
  Generation generation = {};
  bool changed = false;  // since the first answer
  bool missing = false;
};

// Some ranges of one value: one request.
struct Part {
  Value* value = nullptr;
  // Which of value->wanted lie in range i of the request, and where.
  struct Slice {
    std::size_t wanted;
    std::uint64_t offset;
    std::uint64_t length;
  };
  std::vector<std::vector<Slice>> slices = {};
};

class Rounds {
 public:
  Rounds(Store& store, MemoCache& memos, std::vector<RoundItem>& items, const RoundOptions& options)
      : store_(store), memos_(memos), options_(options), values_(items.size()) {
    gap_ = options.coalesce_gap.value_or(store.capabilities().coalesce_gap);
    waits_ = store.capabilities().waits;
    request_bytes_ = waits_ ? kWaitingRequestBytes : kRequestBytes;
    limit_ = options.coalesce_limit.value_or(kCoalesceLimit);
    for (std::size_t i = 0; i < items.size(); ++i) values_[i].item = &items[i];
  }

  void run() {
    std::vector<Value*> active;
    for (Value& value : values_) active.push_back(&value);
    for_each(active, [&](Value& value) { begin(value, true); });
    std::erase_if(active, [](Value* value) { return value->decode && value->wanted.empty(); });
    while (!active.empty()) {
      read(active);
      std::vector<Value*> partial;
      for (Value* value : active)
        if (value->decode && !value->missing) partial.push_back(value);
      for_each(partial, [&](Value& value) { after_round(value); });
      std::erase_if(partial, [](Value* value) { return value->decode && value->wanted.empty(); });
      active = std::move(partial);
    }
  }

 private:
  template <class Body>
  void for_each(const std::vector<Value*>& values, const Body& body) const {
    Executor::global().parallel_for(
        values.size(),
        [&](std::size_t i) {
          with_place({store_.name(), {}, values[i]->item->key}, [&] { body(*values[i]); });
        },
        {.max_concurrency = options_.get.max_concurrency, .stop = options_.get.stop});
  }

  void begin(Value& value, bool with_memo) {
    if (!value.item->begin) return;
    if (++value.begins > kMostBegins)
      throw Error(ErrorCode::unavailable,
                  "the value was changed " + std::to_string(kMostBegins) + " times while it was read");
    value.seen = false;
    value.generation.clear();
    value.changed = false;
    value.from_memo = false;
    std::shared_ptr<const PartialMemo> memo;
    if (with_memo) {
      if (auto kept = memos_.find(value.item->key)) {
        memo = std::move(kept->memo);
        value.generation = std::move(kept->generation);
        value.seen = value.from_memo = true;
      }
    }
    value.decode = value.item->begin(std::move(memo));
    if (!value.decode) return;
    value.wanted = value.decode->wanted();
    if (!value.wanted.empty()) return;
    // A kept index that leaves nothing to read cannot be checked against data: it is read again.
    if (value.from_memo) return begin(value, false);
    finish(value);
  }

  void after_round(Value& value) {
    if (value.changed) {
      memos_.drop(value.item->key);
      return begin(value, false);
    }
    if (!value.from_memo && !value.generation.empty())
      if (auto memo = value.decode->memo()) {
        memos_.put(value.item->key, {value.generation, std::move(memo)});
        value.from_memo = true;
      }
    value.wanted = value.decode->wanted();
    if (value.wanted.empty()) finish(value);
  }

  static void finish(Value& value) {
    if (value.item->done) value.item->done(*value.decode);
  }

  // One batch: the whole values, and what the partial ones want.
  void read(const std::vector<Value*>& active) {
    std::vector<GetRequest> requests;
    std::vector<Part> parts;
    const std::uint64_t most_work = work_of_a_request(active);
    for (Value* value : active) {
      if (value->decode) {
        add_parts(*value, most_work, requests, parts);
      } else {
        requests.push_back({.key = value->item->key, .context = value->item->context});
        parts.push_back({value, {}});
      }
    }
    store_.get(
        requests,
        [&](std::size_t i, GetResult&& result) {
          with_place({store_.name(), {}, requests[i].key}, [&] { receive(parts[i], std::move(result)); });
        },
        options_.get);
  }

  // Bytes that come out of a range.
  static std::uint64_t work_of(const WantedBytes& wanted) {
    return std::max(wanted.range.length, wanted.decoded_size);
  }

  // How many bytes may come out of a request before the next one begins.
  std::uint64_t work_of_a_request(const std::vector<Value*>& active) const {
    if (waits_) return ~std::uint64_t{0};
    std::uint64_t work = 0;
    for (const Value* value : active)
      if (value->decode)
        for (const WantedBytes& wanted : value->wanted)
          work = checked_add(work, work_of(wanted)).value_or(~std::uint64_t{0});
    const std::uint64_t workers = options_.get.max_concurrency != 0 ? options_.get.max_concurrency
                                                                    : Executor::global().compute_threads();
    return std::max(kRequestBytes, work / (kRequestsPerWorker * workers));
  }

  // Joins ranges that lie close together, and deals them out to requests.
  void add_parts(Value& value, std::uint64_t most_work, std::vector<GetRequest>& requests,
                 std::vector<Part>& parts) const {
    std::vector<std::size_t> order(value.wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return value.wanted[a].range.offset < value.wanted[b].range.offset;
    });
    GetRequest request;
    Part part;
    std::uint64_t bytes = 0, work = 0;
    const auto send = [&] {
      request.key = value.item->key;
      request.context = value.item->context;
      part.value = &value;
      requests.push_back(std::exchange(request, {}));
      parts.push_back(std::exchange(part, {}));
      bytes = work = 0;
    };
    bool joinable = false;  // the last range of the request
    for (const std::size_t i : order) {
      const WantedBytes& wanted = value.wanted[i];
      if (work >= most_work) {
        send();
        joinable = false;
      }
      const auto end = wanted.range.kind == ByteRange::Kind::range
                           ? checked_add(wanted.range.offset, wanted.range.length)
                           : std::nullopt;
      if (joinable && end && join(request.ranges.back(), request.destinations.back(), wanted, *end)) {
        part.slices.back().push_back(
            {i, wanted.range.offset - request.ranges.back().offset, wanted.range.length});
      } else {
        if (bytes >= request_bytes_) send();
        request.ranges.push_back(wanted.range);
        request.destinations.push_back(wanted.destination);
        part.slices.push_back({{i, 0, end ? wanted.range.length : ~std::uint64_t{0}}});
      }
      joinable = end.has_value();
      bytes += wanted.range.length;
      work += work_of(wanted);
    }
    if (!request.ranges.empty()) send();
  }

  // Extends `last` by what is wanted, when that lies close behind it (or in it). Bytes that go to neighbouring memory are still read there.
  bool join(ByteRange& last, std::span<std::byte>& destination, const WantedBytes& wanted,
            std::uint64_t end) const {
    const std::uint64_t last_end = last.offset + last.length;  // no overflow: checked when it was joined
    const std::uint64_t gap = wanted.range.offset > last_end ? wanted.range.offset - last_end : 0;
    const std::uint64_t length = std::max(end, last_end) - last.offset;
    if (gap > gap_ || length > limit_) return false;
    const bool neighbours = wanted.range.offset == last_end && !destination.empty() &&
                            destination.data() + destination.size() == wanted.destination.data();
    if (!neighbours && (!destination.empty() || !wanted.destination.empty())) {
      // Separate reads straight to their places against one read and copies: a further read of a file costs 1.2 us.
      const bool own_read = (!destination.empty() && last.length >= kWorthOwnRead) ||
                            (!wanted.destination.empty() && wanted.range.length >= kWorthOwnRead);
      if (!waits_ && own_read) return false;
      destination = {};
    } else if (neighbours) {
      destination = {destination.data(), destination.size() + wanted.destination.size()};
    }
    last.length = length;
    return true;
  }

  void receive(const Part& part, GetResult&& result) const {
    Value& value = *part.value;
    if (!value.decode) {
      if (result.status == GetStatus::error) result.rethrow();
      if (result.status == GetStatus::missing) {
        if (value.item->missing) value.item->missing(nullptr);
        return;
      }
      return value.item->whole(std::move(result));
    }
    if (!is_same_state(value, result)) return;
    if (result.status == GetStatus::missing) return;
    if (result.status == GetStatus::error) {
      // A range behind the end is a fault of the value, which the decode can explain.
      bool outside = false;
      try {
        result.rethrow();
      } catch (const Error& error) {
        outside = error.code() == ErrorCode::out_of_bounds;
        if (!outside) throw;
      }
      result.values.assign(part.slices.size(), Buffer());
    }
    for (std::size_t r = 0; r < part.slices.size(); ++r) {
      const Buffer& bytes = result.values.at(r);
      for (const Part::Slice& slice : part.slices[r]) {
        const std::uint64_t from = std::min<std::uint64_t>(slice.offset, bytes.size());
        const std::uint64_t length = std::min<std::uint64_t>(slice.length, bytes.size() - from);
        value.decode->receive(slice.wanted,
                              bytes.slice(static_cast<std::size_t>(from), static_cast<std::size_t>(length)),
                              result.total_size);
      }
    }
  }

  // Whether an answer is about the same state of the value as those before it; else the value is begun again after this round.
  bool is_same_state(Value& value, const GetResult& result) const {
    const std::lock_guard lock(value.mutex);
    if (result.status == GetStatus::error) return !value.changed;
    if (result.status == GetStatus::missing) {
      if (value.seen) {
        value.changed = true;
      } else if (!std::exchange(value.missing, true) && value.item->missing) {
        value.item->missing(value.decode.get());
      }
      return false;
    }
    if (value.missing) {
      value.missing = false;
      value.seen = value.changed = true;
    }
    if (!std::exchange(value.seen, true)) value.generation = result.generation;
    if (value.generation != result.generation) value.changed = true;
    return !value.changed;
  }

  Store& store_;
  MemoCache& memos_;
  const RoundOptions& options_;
  std::uint64_t gap_ = 0;
  std::uint64_t limit_ = 0;
  bool waits_ = false;
  std::uint64_t request_bytes_ = kRequestBytes;
  std::vector<Value> values_;
};

}  // namespace

void run_rounds(Store& store, MemoCache& memos, std::vector<RoundItem>& items, const RoundOptions& options) {
  Rounds(store, memos, items, options).run();
}

}  // namespace zarrive
