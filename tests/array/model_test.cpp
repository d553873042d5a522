// The random model test: arrays of every type, format, grid and a choice of codecs, written and read through random selections, against a
// plain list of elements. ZARRIVE_MODEL_SEED repeats a run, ZARRIVE_MODEL_CASES changes how many arrays there are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "zarrive/array.hpp"
#include "zarrive/codecs.hpp"
#include "zarrive/group.hpp"
#include "zarrive/memory_store.hpp"
#include "zarrive/store_wrappers.hpp"

namespace zarrive {
namespace {

using Random = std::mt19937_64;
using Elements = std::vector<std::string>;  // each element's bytes (or its string), in C order

std::uint64_t pick(Random& random, std::uint64_t count) { return random() % count; }

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = {"bool",
                                                 "int8",
                                                 "int16",
                                                 "int32",
                                                 "int64",
                                                 "uint8",
                                                 "uint16",
                                                 "uint32",
                                                 "uint64",
                                                 "float16",
                                                 "float32",
                                                 "float64",
                                                 "complex64",
                                                 "complex128",
                                                 ">i2",
                                                 ">f4",
                                                 ">f8",
                                                 ">c16",
                                                 "|V5",
                                                 "|S3",
                                                 "<U2",
                                                 ">U2",
                                                 "string",
                                                 "bytes",
                                                 "<M8[ms]",
                                                 ">m8[10us]",
                                                 "bfloat16",
                                                 "float8_e4m3",
                                                 "float8_e5m2",
                                                 "int4",
                                                 "uint2",
                                                 "optional[int16]",
                                                 "optional[optional[float64]]",
                                                 R"([["a", "|u1"], ["b", ">i2"], ["c", "<f8", [2]]])",
                                                 R"([["x", "<f4"], ["y", [["z", "<i4"], ["s", "|S2"]]]])"};
  return names;
}

// Types that only one format can say.
bool expressible(const DataType& type, ZarrFormat format) {
  try {
    format == ZarrFormat::v2 ? type.to_v2() : type.to_v3();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string random_element(Random& random, const DataType& type) {
  if (type.is_variable()) {
    std::string text(pick(random, 6), '\0');
    for (char& c : text) c = static_cast<char>('a' + pick(random, 26));
    if (pick(random, 5) == 0) text += "\xc3\xa9";
    return text;
  }
  std::string bytes(type.item_size(), '\0');
  for (char& c : bytes) c = static_cast<char>(pick(random, 256));
  if (type.id() == TypeId::fixed_utf32) {  // any code points that are characters
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
      const auto point = static_cast<std::uint32_t>(pick(random, 0xD800));
      std::memcpy(bytes.data() + at, &point, 4);
    }
  }
  if (type.id() == TypeId::boolean) bytes[0] = static_cast<char>(pick(random, 2));
  if (type.id() == TypeId::int4) bytes[0] = static_cast<char>(static_cast<int>(pick(random, 16)) - 8);
  if (type.id() == TypeId::uint2) bytes[0] = static_cast<char>(pick(random, 4));
  if (type.id() == TypeId::optional) {  // flags are 0 or 1, an absent value is zeros
    auto* element = reinterpret_cast<std::byte*>(bytes.data());
    element[0] = static_cast<std::byte>(pick(random, 2));
    element[1] = static_cast<std::byte>(pick(random, 2));
    element_from_json(type, element_to_json(type, element), element);
  }
  return bytes;
}

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

// Positions in the whole array (C order) that a selection stands for, in the order of the result.
std::vector<std::uint64_t> selected(const ResolvedSelection& selection, const Shape& shape) {
  std::vector<std::uint64_t> out;
  const std::uint64_t count = element_count(selection.full_shape());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i, flat = 0, weight = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const ResolvedDimension& part = selection.dimensions[d];
      flat += weight * (part.start + rest % part.count * static_cast<std::uint64_t>(part.step));
      rest /= part.count;
      weight *= shape[d];
    }
    out.push_back(flat);
  }
  return out;
}

Selection random_selection(Random& random, const Shape& shape) {
  std::vector<SelectionItem> items;
  const std::size_t ellipsis_at = pick(random, 4) == 0 ? pick(random, shape.size() + 1) : shape.size() + 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == ellipsis_at) {
      items.emplace_back(Ellipsis{});
      if (pick(random, 2)) continue;  // it stands for this one
    }
    const auto extent = static_cast<std::int64_t>(shape[d]);
    auto position = [&]() -> std::optional<std::int64_t> {
      if (pick(random, 3) == 0) return std::nullopt;
      return static_cast<std::int64_t>(pick(random, 2 * shape[d] + 3)) - extent - 1;
    };
    if (extent > 0 && pick(random, 4) == 0) {
      items.emplace_back(static_cast<std::int64_t>(pick(random, 2 * shape[d])) - extent);
    } else {
      static constexpr std::int64_t kSteps[] = {1, 1, 1, 2, 3, -1, -2, 7};
      items.emplace_back(Slice{position(), position(), kSteps[pick(random, 8)]});
    }
  }
  // an ellipsis that stands for one dimension must be the only thing missing
  std::size_t given = 0;
  bool ellipsis = false;
  for (const SelectionItem& item : items)
    std::holds_alternative<Ellipsis>(item) ? void(ellipsis = true) : void(++given);
  if (!ellipsis && pick(random, 3) == 0 && !items.empty()) items.pop_back();
  return Selection(items);
}

// A view of the given shape over memory with random order of dimensions, gaps and directions. Fixed-size types only.
ArrayView random_layout(Random& random, const DataType& type, const Shape& shape,
                        std::vector<std::byte>& memory) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), random);
  Strides strides(shape.size());
  std::int64_t reach = static_cast<std::int64_t>(type.item_size());
  std::int64_t offset = 0;
  for (std::size_t d : order) {
    strides[d] = reach + static_cast<std::int64_t>(pick(random, 2) * type.item_size());
    const std::int64_t span = strides[d] * static_cast<std::int64_t>(shape[d] > 0 ? shape[d] : 1);
    if (pick(random, 3) == 0 && shape[d] > 0) {
      offset += strides[d] * static_cast<std::int64_t>(shape[d] - 1);
      strides[d] = -strides[d];
    }
    reach = span;
  }
  memory.assign(static_cast<std::size_t>(reach) + 64, std::byte{0xCD});
  return ArrayView(memory.data() + offset, type, shape, strides);
}

CodecSpec v2_codec(const char* id, JsonObject configuration = {}) { return {id, std::move(configuration)}; }

void choose_v2_codecs(Random& random, CreateOptions& options) {
  const DataType& type = options.data_type.type;
  static const char* kCompressors[] = {"zstd", "blosc", "zlib", "gzip", "lz4", "bz2", "lzma", ""};
  options.compressor = v2_codec(kCompressors[pick(random, 8)]);
  options.order = pick(random, 3) == 0 ? 'F' : 'C';
  options.chunk_key_encoding = ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, pick(random, 2) ? '/' : '.'};
  if (type.is_variable()) return;
  std::vector<CodecSpec> filters;
  if (type.is_integer() && type.item_size() > 1 && pick(random, 3) == 0)
    filters.push_back(v2_codec("delta", {{"dtype", type.to_v2()}}));
  if (pick(random, 4) == 0) filters.push_back(v2_codec("shuffle", {{"elementsize", type.item_size()}}));
  if (pick(random, 5) == 0) filters.push_back(v2_codec("crc32"));
  options.filters = filters;
}

void choose_v3_codecs(Random& random, CreateOptions& options) {
  std::vector<CodecSpec> chain;
  if (options.shape.size() > 1 && pick(random, 3) == 0) {
    std::vector<std::size_t> order(options.shape.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    std::shuffle(order.begin(), order.end(), random);
    chain.push_back(codecs::transpose(order));
  }
  const DataType& type = options.data_type.type;
  if (!type.is_variable() && pick(random, 3) == 0 && type.id() != TypeId::structured &&
      type.id() != TypeId::optional)
    chain.push_back(type.swap_unit() > 1 ? codecs::bytes(pick(random, 2) ? ByteOrder::big : ByteOrder::little)
                                         : CodecSpec{"bytes"});
  switch (pick(random, 6)) {
    case 0: chain.push_back(codecs::zstd(3, pick(random, 2))); break;
    case 1: chain.push_back(codecs::gzip(1)); break;
    case 2: chain.push_back(codecs::blosc(pick(random, 2) ? "lz4" : "zstd")); break;
    case 3: chain.push_back(codecs::crc32c()); break;
    case 4: chain.push_back(codecs::zstd(1)), chain.push_back(codecs::crc32c()); break;
    default: break;
  }
  options.codecs = chain;
}

ChunkGrid random_rectilinear(Random& random, const Shape& shape) {
  std::vector<ChunkGrid::Dimension> dimensions;
  for (std::uint64_t extent : shape) {
    ChunkGrid::Dimension dimension;
    if (pick(random, 3) == 0) {
      dimension.repeat = true;
      dimension.runs.push_back({1 + pick(random, 4), 1});
    } else {
      for (std::uint64_t covered = 0; covered < extent || dimension.runs.empty();) {
        const ChunkGrid::Run run{1 + pick(random, 4), 1 + pick(random, 2)};
        dimension.runs.push_back(run);
        covered += run.edge * run.count;
      }
    }
    dimensions.push_back(std::move(dimension));
  }
  return ChunkGrid::rectilinear(std::move(dimensions));
}

// Puts the chain into shards of the options' chunks, sometimes twice: the chunks then are the shards.
void choose_sharding(Random& random, CreateOptions& options) {
  std::vector<CodecSpec> chain = *options.codecs;
  // A transposition may stay outside; inside, and for the shape of the inner chunks, dimensions are in its order.
  std::vector<CodecSpec> outside;
  std::vector<std::size_t> order(options.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (!chain.empty() && chain[0].name == "transpose" && pick(random, 2)) {
    for (std::size_t d = 0; d < order.size(); ++d)
      order[d] =
          static_cast<std::size_t>(chain[0].configuration.find("order")->as_array()[d].to_uint64().value());
    outside.push_back(chain[0]);
    chain.erase(chain.begin());
  }
  Shape inner(order.size());
  for (std::uint64_t& edge : inner) edge = 1 + pick(random, 3);
  const std::vector<CodecSpec> index_codecs =
      pick(random, 2)
          ? std::vector<CodecSpec>{codecs::bytes(), codecs::crc32c()}
          : std::vector<CodecSpec>{codecs::bytes(pick(random, 2) ? ByteOrder::big : ByteOrder::little)};
  chain = {codecs::sharding(inner, chain, index_codecs, pick(random, 2) ? "end" : "start")};
  Shape shard = inner;
  for (int level = static_cast<int>(pick(random, 3)); level >= 0; --level) {
    for (std::uint64_t& edge : shard) edge *= 1 + pick(random, 2);
    if (level > 0 && pick(random, 2)) chain = {codecs::sharding(shard, chain, index_codecs)};
  }
  for (std::size_t d = 0; d < order.size(); ++d) options.chunks[order[d]] = shard[d];
  if (pick(random, 8) == 0) chain.push_back(codecs::crc32c());
  outside.insert(outside.end(), chain.begin(), chain.end());
  options.codecs = outside;
}

CreateOptions random_array(Random& random, const DataType& type, ZarrFormat format) {
  CreateOptions options;
  options.format = format;
  options.data_type = type;
  const std::size_t ndim = pick(random, 5);
  for (std::size_t d = 0; d < ndim; ++d) {
    options.shape.push_back(pick(random, 12) == 0 ? 0 : 1 + pick(random, ndim > 2 ? 6 : 14));
    options.chunks.push_back(1 + pick(random, 6));
  }
  if (ndim == 0) options.chunks = {};
  if (format == ZarrFormat::v3 && ndim > 0 && pick(random, 4) == 0)
    options.chunk_grid = random_rectilinear(random, options.shape);
  format == ZarrFormat::v2 ? choose_v2_codecs(random, options) : choose_v3_codecs(random, options);
  if (format == ZarrFormat::v3 && !options.chunk_grid && pick(random, 2)) choose_sharding(random, options);
  return options;
}

class Model {
 public:
  Model(Random& random, const DataType& type, ZarrFormat format)
      : random_(random), options_(random_array(random, type, format)), metadata_(make_metadata(options_)) {
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
    elements_.assign(static_cast<std::size_t>(element_count(metadata_.shape)), fill_element);
  }

  std::string describe() const { return metadata_.to_documents().back().second.dump(); }

  void step() {
    if (pick(random_, 8) == 0) array_.emplace(open_array(store_, "a"));
    pick(random_, 2) ? write() : read();
  }

  void write() {
    const Selection selection = random_selection(random_, metadata_.shape);
    const ResolvedSelection resolved = resolve(selection, metadata_.shape);
    const Shape shape = resolved.result_shape();
    std::vector<std::byte> memory;
    NDArray owned =
        NDArray::allocate(metadata_.data_type, metadata_.data_type.is_variable() ? shape : Shape{});
    const ArrayView source = metadata_.data_type.is_variable()
                                 ? owned.view()
                                 : random_layout(random_, metadata_.data_type, shape, memory);
    const std::vector<std::uint64_t> positions = selected(resolved, metadata_.shape);
    const bool constant = pick(random_, 4) == 0;
    const std::string& one = pool_[pick(random_, 2)];
    each(source, [&](std::uint64_t i, std::byte* at) {
      const std::string& element = constant ? one : pool_[pick(random_, pool_.size())];
      set_element(source, at, element);
      elements_[positions[i]] = element;
    });
    WriteOptions options;
    options.write_empty_chunks = pick(random_, 3) == 0;
    if (pick(random_, 4) == 0) options.max_bytes_in_flight = 1 + pick(random_, 200);
    options.max_concurrency = pick(random_, 3);
    array_->write(selection, source, options);
  }

  void read() {
    const Selection selection = random_selection(random_, metadata_.shape);
    const ResolvedSelection resolved = resolve(selection, metadata_.shape);
    const std::vector<std::uint64_t> positions = selected(resolved, metadata_.shape);
    std::vector<std::byte> memory;
    NDArray result;
    ArrayView view;
    ReadOptions options;
    options.max_concurrency = pick(random_, 3);
    if (metadata_.data_type.is_variable() || pick(random_, 2)) {
      result = array_->read(selection, options);
      view = result.view();
    } else {
      view = random_layout(random_, metadata_.data_type, resolved.result_shape(), memory);
      array_->read_into(selection, view, options);
    }
    ASSERT_EQ(view.shape, resolved.result_shape());
    each(view, [&](std::uint64_t i, std::byte* at) {
      ASSERT_EQ(element_at(view, at), elements_[positions[i]])
          << "selection " << selection.to_string() << ", element " << i;
    });
  }

  void read_all() {
    const NDArray result = array_->read();
    each(result.view(), [&](std::uint64_t i, std::byte* at) {
      ASSERT_EQ(element_at(result.view(), at), elements_[i]) << "element " << i;
    });
  }

 private:
  Random& random_;
  CreateOptions options_;
  ArrayMetadata metadata_;
  std::shared_ptr<Store> store_ = std::make_shared<MemoryStore>();
  std::optional<Array> array_;
  std::vector<std::string> pool_;
  Elements elements_;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Model, RandomArraysEqualADenseModel) {
  const std::uint64_t seed = from_environment("ZARRIVE_MODEL_SEED", std::random_device{}());
  const std::uint64_t cases = from_environment("ZARRIVE_MODEL_CASES", 2400);
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
      for (std::uint64_t steps = 2 + random() % 6; steps > 0 && !testing::Test::HasFailure(); --steps)
        model.step();
      model.read_all();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "case " << i << ": " << description;
      return;
    }
  }
}

}  // namespace
}  // namespace zarrive
