// What the tests of array codecs share: codecs from JSON, random arrays, strided views, comparison by bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/partial.hpp"
#include "support/errors.hpp"
#include "zarrive/codec.hpp"

namespace zarrive::testing {

inline std::shared_ptr<const Codec> make_codec(const std::string& name,
                                               const std::string& configuration = "{}",
                                               ZarrFormat format = ZarrFormat::v3, bool strict = false,
                                               std::vector<std::string>* warnings = nullptr) {
  CodecSpec spec;
  spec.name = name;
  spec.configuration = Json::parse(configuration).as_object();
  CodecOptions options;
  options.format = format;
  options.strict = strict;
  if (warnings) options.warn = [warnings](const std::string& text) { warnings->push_back(text); };
  return CodecRegistry::global().make(spec, options);
}

inline std::shared_ptr<const ArrayToArrayCodec> array_codec(const std::string& name,
                                                            const std::string& configuration = "{}",
                                                            ZarrFormat format = ZarrFormat::v3) {
  auto codec = std::dynamic_pointer_cast<const ArrayToArrayCodec>(make_codec(name, configuration, format));
  if (!codec) throw std::runtime_error(name + " is no array-to-array codec");
  return codec;
}

inline std::shared_ptr<const ArrayToBytesCodec> bytes_codec(const std::string& name,
                                                            const std::string& configuration = "{}",
                                                            ZarrFormat format = ZarrFormat::v3) {
  auto codec = std::dynamic_pointer_cast<const ArrayToBytesCodec>(make_codec(name, configuration, format));
  if (!codec) throw std::runtime_error(name + " is no array-to-bytes codec");
  return codec;
}

inline ArraySpec spec_of(const DataType& type, Shape shape) {
  return {type, std::move(shape), FillValue::zero(type)};
}
inline ArraySpec spec_of(const std::string& type, Shape shape) {
  return spec_of(DataType::parse(type), std::move(shape));
}

inline std::vector<std::byte> to_bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}
inline std::vector<std::byte> to_bytes(std::span<const std::byte> span) { return {span.begin(), span.end()}; }

// A dense array with these elements in fill-value JSON form.
inline NDArray array_of(const DataType& type, const Shape& shape, const std::string& elements) {
  NDArray array = NDArray::allocate(type, shape);
  const Json list = Json::parse(elements);
  if (list.as_array().size() != array.size()) throw std::runtime_error("wrong number of elements");
  for (std::size_t i = 0; i < list.as_array().size(); ++i)
    element_from_json(type, list.as_array()[i], array.view().data + i * type.item_size());
  return array;
}
inline NDArray array_of(const std::string& type, const std::string& elements) {
  return array_of(DataType::parse(type), Shape{Json::parse(elements).as_array().size()}, elements);
}

// The elements of a view in C order, as compact JSON.
inline std::string elements_of(const ArrayView& view) {
  const NDArray dense = NDArray::allocate(view.type, view.shape);
  copy(view, dense.view());
  JsonArray list;
  for (std::uint64_t i = 0; i < dense.size(); ++i)
    list.push_back(element_to_json(view.type, dense.view().data + i * view.type.item_size()));
  return Json(std::move(list)).dump({.spaces = false});
}

// Equal by bits (strings by value), whatever the strides.
inline bool same_elements(const ArrayView& a, const ArrayView& b) {
  if (!(a.type == b.type) || a.shape != b.shape) return false;
  const NDArray x = NDArray::allocate(a.type, a.shape);
  const NDArray y = NDArray::allocate(b.type, b.shape);
  copy(a, x.view());
  copy(b, y.view());
  if (!a.type.is_variable())
    return x.view().nbytes() == 0 || std::memcmp(x.view().data, y.view().data, x.view().nbytes()) == 0;
  const auto* s = reinterpret_cast<const std::string*>(x.view().data);
  const auto* t = reinterpret_cast<const std::string*>(y.view().data);
  return std::equal(s, s + x.size(), t);
}

// Memory with the elements of every second place along each dimension, the last dimension backwards: a view that is nowhere dense.
struct Strided {
  NDArray memory;
  ArrayView view;
};
inline Strided strided(const DataType& type, const Shape& shape) {
  Shape doubled = shape;
  for (std::uint64_t& extent : doubled) extent *= 2;
  Strided result{NDArray::allocate(type, doubled), {}};
  if (!type.is_variable() && result.memory.view().nbytes() > 0)
    std::memset(result.memory.view().data, 0xEE, result.memory.view().nbytes());
  result.view = result.memory.view();
  result.view.shape = shape;
  for (std::int64_t& stride : result.view.strides) stride *= 2;
  if (!shape.empty() && result.memory.size() > 0) {
    const std::size_t last = shape.size() - 1;
    result.view.data += result.view.strides[last] * static_cast<std::int64_t>(shape[last] - 1);
    result.view.strides[last] = -result.view.strides[last];
  }
  return result;
}

// Random elements. `small`: numbers from 0 to 99 (whatever the type), else any bits that the type has.
inline NDArray random_array(const DataType& type, const Shape& shape, std::mt19937_64& random,
                            bool small = false) {
  NDArray array = NDArray::allocate(type, shape);
  std::byte* at = array.view().data;
  for (std::uint64_t i = 0; i < array.size(); ++i, at += type.item_size()) {
    if (type.is_variable()) {
      std::string text;
      if (type.id() == TypeId::object) {
        text = Json(JsonArray{Json(random() % 100), Json(random() % 100)}).dump({.spaces = false});
      } else {
        for (std::uint64_t k = random() % 6; k > 0; --k)
          text += type.id() == TypeId::bytes ? std::string(1, static_cast<char>(random()))
                                             : std::string(random() % 2 ? "\u00e9" : "a");
      }
      *reinterpret_cast<std::string*>(at) = text;
    } else if (type.id() == TypeId::boolean) {
      *at = std::byte{random() % 2 == 1};
    } else if (small && (type.is_real() || type.id() == TypeId::datetime64)) {
      const std::uint64_t bound = type.item_size() == 1 && !type.is_integer() ? 2
                                  : type.name() == "int2"                     ? 2
                                  : type.name() == "uint2"                    ? 4
                                  : type.name() == "int4"                     ? 8
                                  : type.name() == "uint4"                    ? 16
                                                                              : 100;
      element_from_json(type, Json(type.name() == "float8_e8m0fnu" ? 1 + random() % 2 : random() % bound),
                        at);
    } else if (small && type.is_complex()) {
      element_from_json(type, Json(JsonArray{Json(random() % 100), Json(random() % 100)}), at);
    } else if (type.id() == TypeId::fixed_utf32) {
      for (std::size_t k = 0; k < type.item_size(); k += 4) {
        const std::uint32_t point = 'a' + static_cast<std::uint32_t>(random() % 26);
        std::memcpy(at + k, &point, 4);
      }
    } else if (type.id() == TypeId::optional) {  // an absent value is zeros
      std::memset(at, 0, type.item_size());
      if (random() % 2) continue;
      at[0] = std::byte{1};
      const NDArray value = random_array(type.fields()[1].type, {}, random, small);
      std::memcpy(at + 1, value.view().data, value.view().nbytes());
    } else {
      for (std::size_t k = 0; k < type.item_size(); ++k) at[k] = static_cast<std::byte>(random());
      const bool sub_byte = type.name() == "int2" || type.name() == "int4" || type.name() == "uint2" ||
                            type.name() == "uint4" || type.name().starts_with("float4") ||
                            type.name().starts_with("float6");
      if (type.id() == TypeId::structured)
        element_from_json(type, element_to_json(type, at), at);  // bools are 0 or 1
      if (sub_byte) element_from_json(type, Json(random() % 2), at);
    }
  }
  return array;
}

inline const std::vector<Shape>& suite_shapes() {
  static const std::vector<Shape> shapes = {{},     {0},       {1},       {7},      {600},
                                            {3, 5}, {4, 0, 2}, {2, 3, 4}, {1, 9, 1}};
  return shapes;
}

// Decodes a part out of a value in memory, and counts what was read for that.
struct PartRead {
  std::uint64_t bytes = 0;
  std::size_t ranges = 0;
};
inline PartRead decode_part(const ArrayToBytesCodec& codec, const ArraySpec& spec, const Buffer& encoded,
                            ChunkPart part, const ArrayView& output) {
  PartRead read;
  const Context context;
  const auto decode = codec.decode_partial({std::move(part), output, nullptr}, spec, context);
  for (auto round = decode->wanted(); !round.empty(); round = decode->wanted())
    for (std::size_t i = 0; i < round.size(); ++i) {
      const ByteRange::Resolved at = cut_to(round[i].range, encoded.size());
      Buffer bytes = encoded.slice(static_cast<std::size_t>(at.offset), static_cast<std::size_t>(at.length));
      if (!bytes.empty() && round[i].destination.size() == bytes.size() &&
          i % 2 == 0) {  // a store may, or may not
        std::memcpy(round[i].destination.data(), bytes.data(), bytes.size());
        bytes = Buffer::borrow(round[i].destination);
      }
      decode->receive(i, bytes, i % 3 == 0 ? std::optional<std::uint64_t>(encoded.size()) : std::nullopt);
      read.bytes += at.length;
      ++read.ranges;
    }
  return read;
}

// A box of a chunk, to an output of its extent.
inline ChunkPart box_part(const Index& start, const Shape& extent) {
  std::vector<PartDimension> dimensions(start.size());
  for (std::size_t d = 0; d < start.size(); ++d) {
    dimensions[d].start = start[d];
    dimensions[d].count = extent[d];
  }
  return ChunkPart(std::move(dimensions));
}

}  // namespace zarrive::testing
