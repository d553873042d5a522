// Reading ahead: a window of blocks around the one in hand. Each has a slot that is filled by a task on the executor, or by the caller itself
// when it comes to a block that no thread has begun; so it never waits for queued work, and cannot deadlock. Tasks own what they use.
#include "zarrive/blocks.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "array/pieces.hpp"
#include "array/resolve.hpp"
#include "array/transfer.hpp"
#include "zarrive/executor.hpp"

namespace zarrive {
namespace {

std::int64_t to_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// A range or list of places as an entry of a selection.
SelectionItem places_item(const PartDimension& part) {
  if (part.outputs == nullptr)
    return Slice{to_signed(part.output_start), to_signed(part.output_start + part.count), std::nullopt};
  std::vector<std::int64_t> places;
  for (std::uint64_t i = 0; i < part.count; ++i) places.push_back(to_signed(part.place(i)));
  return IntegerArray(std::move(places));
}

// The positions of a part of a chunk that starts at `origin`.
SelectionItem positions_item(const PartDimension& part, std::uint64_t origin) {
  if (!part.is_range()) {
    std::vector<std::int64_t> positions;
    for (std::uint64_t i = 0; i < part.count; ++i) positions.push_back(to_signed(origin + part.position(i)));
    return IntegerArray(std::move(positions));
  }
  Slice slice;
  slice.start = to_signed(origin + part.start);
  const std::int64_t last = to_signed(origin + part.position(part.count - 1));
  if (part.step > 0) slice.stop = last + 1;
  else if (last > 0) slice.stop = last - 1;  // before position 0 it can only be left out
  if (part.step != 1) slice.step = part.step;
  return slice;
}

// Tasks that wait for a store take I/O threads, but never more than half of them: the requests of those reads need threads too.
class IoSlots {
 public:
  static bool take() {
    const std::size_t most = Executor::global().io_threads() / 2;
    std::size_t taken = count().load();
    while (taken < most)
      if (count().compare_exchange_weak(taken, taken + 1)) return true;
    return false;
  }
  static void give_back() { --count(); }

 private:
  static std::atomic<std::size_t>& count() {
    static std::atomic<std::size_t> taken{0};
    return taken;
  }
};

}  // namespace

struct BlockRange::Plan {
  Plan(const Array& of, const Selection& selection, const BlockOptions& with)
      : array(of),
        options(with),
        selection(selection),
        resolved(of.resolve(selection)),
        item_size(of.result_type(selection).item_size()),
        pieces(std::make_shared<const ArrayMetadata>(of.metadata()), resolved) {
    if (resolved.points && resolved.points->shape.size() != 1 && !resolved.subarray.empty())
      throw Error(ErrorCode::unsupported,
                  "blocks of the field '" + selection.to_string() +
                      "', which is a subarray, at coordinates that are not 1-d: flatten the coordinates",
                  {of.store()->name(), of.path(), {}});
    size = pieces.size();
  }

  std::uint64_t bytes(const Piece& piece) const {
    std::uint64_t elements = piece.part.size();
    for (const std::uint64_t extent : resolved.subarray) elements = multiply(elements, extent, "a block");
    return multiply(elements, item_size, "a block");
  }

  // Block `i` without its data.
  Block describe(const Piece& piece) const {
    Block block;
    block.chunk = piece.chunk;
    const Index origin = array.metadata().chunk_grid.chunk_origin(piece.chunk);
    if (resolved.points) describe_points(piece, origin, block);
    else describe_product(piece, origin, block);
    if (selection.field_names().empty()) return block;
    block.selection = selection.is_single_field() ? block.selection.field(selection.field_names()[0])
                                                  : block.selection.fields(selection.field_names());
    return block;
  }

  const Array array;
  const BlockOptions options;
  const Selection selection;
  const ResolvedSelection resolved;
  const std::size_t item_size;
  const Pieces pieces;
  std::uint64_t size = 0;

 private:
  void describe_product(const Piece& piece, const Index& origin, Block& block) const {
    std::vector<SelectionItem> positions, places;
    for (std::size_t d = 0; d < origin.size(); ++d) {
      const PartDimension& part = piece.part.dimensions()[d];
      if (resolved.dimensions[d].dropped) {
        positions.emplace_back(to_signed(origin[d] + part.position(0)));
      } else {
        positions.push_back(positions_item(part, origin[d]));
        places.push_back(places_item(part));
      }
    }
    block.selection = Selection(std::move(positions));
    block.place = Selection(std::move(places));
  }

  void describe_points(const Piece& piece, const Index& origin, Block& block) const {
    const Shape& shape = resolved.points->shape;
    const ChunkPart& part = piece.part;
    const Shape own = shape.empty() ? Shape{} : Shape{part.size()};  // a single point keeps its 0-d shape
    std::vector<IntegerArray> coordinates;
    for (std::size_t d = 0; d < origin.size(); ++d) {
      std::vector<std::int64_t> positions;
      for (std::uint64_t i = 0; i < part.size(); ++i)
        positions.push_back(to_signed(origin[d] + part.dimensions()[d].position(i)));
      coordinates.emplace_back(std::move(positions), own);
    }
    if (array.ndim() == 0) {
      // A 0-d array has one element, however often it is asked for.
      block.selection = resolved.points->shape.empty() ? vindex(std::vector<IntegerArray>{}) : only_element();
    } else {
      block.selection = vindex(std::move(coordinates));
    }
    std::vector<std::vector<std::int64_t>> places(shape.size());
    for (std::uint64_t i = 0; i < part.size(); ++i) {
      std::uint64_t rest = part.point_place(i);
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
        places[d].push_back(to_signed(rest % shape[d]));
    }
    if (shape.size() == 1) {
      block.place = oindex(std::vector<SelectionItem>{IntegerArray(std::move(places[0]))});
    } else if (shape.size() > 1) {
      block.place = vindex(std::vector<IntegerArray>(places.begin(), places.end()));
    }
  }

  Selection only_element() const { return mask({std::vector<bool>{true}, Shape{}}); }
};

namespace {

// One block on its way.
struct Slot {
  enum class State { queued, reading, done, abandoned };

  explicit Slot(Block described, std::uint64_t size) : block(std::move(described)), bytes(size) {}

  // True for the one who is to read it.
  bool claim() {
    const std::lock_guard lock(mutex);
    if (state != State::queued) return false;
    state = State::reading;
    return true;
  }

  void read(const Array& array, ReadOptions options, const std::stop_token& stop) {
    std::exception_ptr failure;
    NDArray data;
    try {
      options.stop = stop;
      data = array.read(block.selection, options);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    block.data = std::move(data);
    error = std::move(failure);
    state = State::done;
    changed.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return state == State::done; });
  }

  // Nobody begins it from here on; when somebody has, it ends first.
  void abandon() {
    std::unique_lock lock(mutex);
    if (state == State::queued) state = State::abandoned;
    changed.wait(lock, [&] { return state != State::reading; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  State state = State::queued;
  Block block;
  const std::uint64_t bytes;
  std::exception_ptr error;
};

}  // namespace

struct BlockRange::Iterator::Run {
  explicit Run(std::shared_ptr<const Plan> of)
      : plan(std::move(of)), forward_stop(plan->options.read.stop, [this] { stop.request_stop(); }) {}

  ~Run() {
    stop.request_stop();
    for (const auto& slot : window) slot->abandon();
  }

  bool at_end() const { return window.empty(); }

  // To the next block, the first one at first.
  void advance() {
    if (!window.empty()) {
      window.pop_front();
      if (!window.empty()) ahead -= window.front()->bytes;  // it is the one in hand now
    }
    if (window.empty() && next < plan->size) add(false);
    if (window.empty()) return;
    look_ahead();
    const std::shared_ptr<Slot> slot = window.front();
    if (slot->claim()) slot->read(plan->array, plan->options.read, stop.get_token());
    else slot->wait();
    if (!slot->error) return;
    stop.request_stop();
    for (const auto& other : window) other->abandon();
    window.clear();
    next = plan->size;
    std::rethrow_exception(slot->error);
  }

  const std::shared_ptr<const Plan> plan;
  std::deque<std::shared_ptr<Slot>> window;  // the front one is in hand

 private:
  void look_ahead() {
    while (next < plan->size && window.size() <= plan->options.read_ahead)
      if (!add(true)) return;
  }

  // The next block goes into the window; false when it is to be read ahead and there is no room for its bytes.
  bool add(bool read_ahead) {
    Piece piece;
    plan->pieces.at(next, piece);
    const std::uint64_t bytes = plan->bytes(piece);
    const std::uint64_t room = plan->options.max_bytes_ahead - std::min(ahead, plan->options.max_bytes_ahead);
    if (read_ahead && bytes > room) return false;
    auto slot = std::make_shared<Slot>(plan->describe(piece), bytes);
    ++next;
    window.push_back(slot);
    if (!read_ahead) return true;
    ahead += bytes;
    submit(std::move(slot));
    return true;
  }

  void submit(std::shared_ptr<Slot> slot) {
    auto read = [slot = std::move(slot), plan = plan, token = stop.get_token()] {
      if (slot->claim()) slot->read(plan->array, plan->options.read, token);
    };
    try {
      if (plan->array.store()->capabilities().waits && IoSlots::take()) {
        try {
          Executor::global().submit_io([read] {
            read();
            IoSlots::give_back();
          });
        } catch (...) {
          IoSlots::give_back();
          throw;
        }
      } else {
        Executor::global().submit_compute(read);
      }
    } catch (...) {
      // No thread to be had: the caller reads it when it comes to it.
    }
  }

  std::stop_source stop;
  std::stop_callback<std::function<void()>> forward_stop;
  std::uint64_t next = 0;   // block to be added to the window
  std::uint64_t ahead = 0;  // bytes of the window behind its front
};

Block& BlockRange::Iterator::operator*() const { return run_->window.front()->block; }

BlockRange::Iterator& BlockRange::Iterator::operator++() {
  run_->advance();
  return *this;
}

bool BlockRange::Iterator::operator==(std::default_sentinel_t) const { return !run_ || run_->at_end(); }

BlockRange::Iterator BlockRange::begin() const {
  Iterator iterator;
  iterator.run_ = std::make_shared<Iterator::Run>(plan_);
  iterator.run_->advance();
  return iterator;
}

std::uint64_t BlockRange::size() const { return plan_->size; }

BlockRange Array::blocks(const Selection& selection) const { return blocks(selection, BlockOptions{}); }

BlockRange Array::blocks(const Selection& selection, const BlockOptions& options) const {
  return BlockRange(std::make_shared<const BlockRange::Plan>(*this, selection, options));
}

}  // namespace zarrive
