// The random model test: arrays of every type, format, grid and a choice of codecs, written and read through random selections of every
// kind and through lists of chunk parts, resized and appended to, against a plain list of elements (support/dense_array.hpp). ZARRIVE_MODEL_SEED repeats a run,
// ZARRIVE_MODEL_CASES changes how many arrays there are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "array/chunk_list.hpp"
#include "support/dense_array.hpp"
#include "support/random_array.hpp"
#include "support/random_selection.hpp"
#include "zarrive/array.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive {
namespace {

using namespace testing_support;

std::string element_at(const ArrayView& view, const std::byte* at) {
  if (view.type.is_variable()) return *reinterpret_cast<const std::string*>(at);
  return {reinterpret_cast<const char*>(at), view.type.item_size()};
}

void set_element(const ArrayView& view, std::byte* at, const std::string& element) {
  if (view.type.is_variable()) *reinterpret_cast<std::string*>(at) = element;
  else std::memcpy(at, element.data(), element.size());
}

// Calls visit(position in C order, address) for every element.
template <class Visit>
void each(const ArrayView& view, Visit&& visit) {
  const std::uint64_t count = view.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i;
    std::byte* at = view.data;
    for (std::size_t d = view.shape.size(); d-- > 0;) {
      at += static_cast<std::int64_t>(rest % view.shape[d]) * view.strides[d];
      rest /= view.shape[d];
    }
    visit(i, at);
  }
}

class Model {
 public:
  Model(Random& random, const DataType& type, ZarrFormat format)
      : random_(random), metadata_(make_metadata(random_array(random, type, format))) {
    // A fill value of random bits half of the time.
    const std::string element = random_element(random, type);
    if (pick(random, 2)) {
      metadata_.fill_value = type.is_variable()
                                 ? FillValue::from_string(type, element)
                                 : FillValue::from_bytes(type, std::as_bytes(std::span(element)));
      if (metadata_.format == ZarrFormat::v2)
        metadata_.fill_value = FillValue::from_v2(metadata_.fill_value.to_v2(), type);
    }
    array_.emplace(create_array(store_, "a", metadata_));
    const FillValue& fill = metadata_.fill_value;
    const std::string fill_element =
        type.is_variable()
            ? fill.string()
            : std::string(reinterpret_cast<const char*>(fill.bytes().data()), fill.bytes().size());
    pool_ = {fill_element};
    for (int i = 0; i < 6; ++i) pool_.push_back(random_element(random, type));
    dense_ = DenseArray(metadata_.data_type, metadata_.shape, metadata_.chunk_grid, fill_element);
  }

  std::string describe() const { return metadata_.to_documents().back().second.dump(); }

  void step() {
    if (pick(random_, 8) == 0) array_.emplace(open_array(store_, "a"));
    const std::uint64_t way = pick(random_, 12);
    if (way == 0) resize();
    else if (way == 1) append();
    else if (way < 7) write();
    else read();
  }

  void read_all() { read(Selection()); }

 private:
  Selection selection() {
    return random_selection(random_, array_->shape(), array_->metadata().chunk_grid, array_->data_type());
  }

  WriteOptions write_options() {
    WriteOptions options;
    options.write_empty_chunks = pick(random_, 3) == 0;
    if (pick(random_, 4) == 0) options.max_bytes_in_flight = 1 + pick(random_, 200);
    options.max_concurrency = pick(random_, 3);
    return options;
  }

  // Random elements in memory of the given shape: a few values, so that chunks of fill come about.
  struct Source {
    std::vector<std::byte> memory;
    NDArray owned;
    ArrayView view;
    Elements elements;
  };
  void fill_source(Source& source, const DataType& type, const Shape& shape) {
    if (type.is_variable()) {
      source.owned = NDArray::allocate(type, shape);
      source.view = source.owned.view();
    } else {
      source.view = random_layout(random_, type, shape, source.memory);
    }
    const bool constant = pick(random_, 4) == 0;
    const bool whole = type == array_->data_type();
    const std::string one = whole ? pool_[pick(random_, 2)] : random_element(random_, type);
    source.elements.resize(static_cast<std::size_t>(element_count(shape)));
    each(source.view, [&](std::uint64_t i, std::byte* at) {
      std::string& element = source.elements[static_cast<std::size_t>(i)];
      element = constant ? one : whole ? pool_[pick(random_, pool_.size())] : random_element(random_, type);
      set_element(source.view, at, element);
    });
  }

  void write() {
    const Selection where = selection();
    SCOPED_TRACE("write " + where.to_string());
    const DenseArray::Result expected = dense_.read(where);
    ASSERT_EQ(array_->result_shape(where), expected.shape);
    Source source;
    fill_source(source, array_->result_type(where), expected.shape);
    dense_.write(where, source.elements);
    if (by_list(where))
      array_->write_parts(reworded(random_, *array_, list_of(*array_, where)),
                          list_view(*array_, where, source.view), write_options());
    else array_->write(where, source.view, write_options());
  }

  // Lists of parts have whole elements.
  bool by_list(const Selection& where) { return where.field_names().empty() && pick(random_, 3) == 0; }

  void read_by_list(const Selection& where, const ArrayView& view, const ReadOptions& options) {
    const std::vector<ChunkAccess> list = reworded(random_, *array_, list_of(*array_, where));
    const std::vector<bool> stored = array_->read_parts(list, list_view(*array_, where, view), options);
    ASSERT_EQ(stored.size(), list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      ASSERT_EQ(stored[i], store_->exists(list[i].key ? *list[i].key : array_->chunk_key(list[i].chunk)));
  }

  void read() { read(selection()); }

  void read(const Selection& where) {
    SCOPED_TRACE("read " + where.to_string());
    const DenseArray::Result expected = dense_.read(where);
    std::vector<std::byte> memory;
    NDArray result;
    ArrayView view;
    ReadOptions options;
    options.max_concurrency = pick(random_, 3);
    const bool by_list = this->by_list(where);
    if (expected.type.is_variable() || pick(random_, 2)) {
      result = by_list ? NDArray::allocate(expected.type, expected.shape) : array_->read(where, options);
      view = result.view();
    } else {
      view = random_layout(random_, expected.type, expected.shape, memory);
      if (!by_list) array_->read_into(where, view, options);
    }
    if (by_list) read_by_list(where, view, options);
    ASSERT_EQ(view.shape, expected.shape);
    ASSERT_EQ(view.type, expected.type);
    each(view, [&](std::uint64_t i, std::byte* at) {
      ASSERT_EQ(element_at(view, at), expected.elements[static_cast<std::size_t>(i)]) << "element " << i;
    });
  }

  void resize() {
    Shape shape = array_->shape();
    for (std::uint64_t& extent : shape)
      if (pick(random_, 2))
        extent = pick(random_, std::min<std::uint64_t>(extent + 4, shape.size() > 2 ? 8 : 15));
    SCOPED_TRACE("resize to " + to_string(shape));
    array_->resize(shape, write_options());
    dense_.resize(shape, array_->metadata().chunk_grid);
    ASSERT_EQ(open_array(store_, "a").shape(), shape);
  }

  void append() {
    Shape shape = array_->shape();
    if (shape.empty()) return;
    const std::size_t axis = pick(random_, shape.size());
    SCOPED_TRACE("append along " + std::to_string(axis));
    const std::uint64_t before = shape[axis];
    shape[axis] = pick(random_, 4);
    Source source;
    fill_source(source, array_->data_type(), shape);
    const std::ptrdiff_t given = static_cast<std::ptrdiff_t>(axis) -
                                 (pick(random_, 2) ? static_cast<std::ptrdiff_t>(shape.size()) : 0);
    Index start(shape.size(), 0);
    start[axis] = before;
    const Selection where = Selection::box(start, shape);
    const Shape grown = array_->append(source.view, given, write_options());
    shape[axis] += before;
    ASSERT_EQ(grown, shape);
    ASSERT_EQ(array_->shape(), shape);
    dense_.resize(shape, array_->metadata().chunk_grid);
    dense_.write(where, source.elements);
  }

  Random& random_;
  ArrayMetadata metadata_;
  std::shared_ptr<Store> store_ = std::make_shared<MemoryStore>();
  std::optional<Array> array_;
  std::vector<std::string> pool_;
  DenseArray dense_;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Model, RandomArraysEqualADenseModel) {
  const std::uint64_t seed = from_environment("ZARRIVE_MODEL_SEED", std::random_device{}());
  const std::uint64_t cases = from_environment("ZARRIVE_MODEL_CASES", 5000);
  std::printf("model test: ZARRIVE_MODEL_SEED=%llu, %llu arrays\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(cases));
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::uint64_t number = seed + i;
    Random random(number);
    const DataType type = DataType::parse(type_names()[number % type_names().size()]);
    ZarrFormat format = number / type_names().size() % 2 ? ZarrFormat::v3 : ZarrFormat::v2;
    if (!expressible(type, format)) format = format == ZarrFormat::v2 ? ZarrFormat::v3 : ZarrFormat::v2;
    SCOPED_TRACE("to repeat: ZARRIVE_MODEL_SEED=" + std::to_string(number) + " ZARRIVE_MODEL_CASES=1 (type " +
                 type.name() + ")");
    std::string description;
    try {
      Model model(random, type, format);
      description = model.describe();
      for (std::uint64_t steps = 2 + random() % 6; steps > 0 && !::testing::Test::HasFailure(); --steps)
        model.step();
      model.read_all();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "case " << i << ": " << description;
      return;
    }
  }
}

}  // namespace
}  // namespace zarrive
