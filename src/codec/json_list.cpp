#include "codec/json_list.hpp"

#include <cmath>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

Json element_as_json(const Codec& codec, const DataType& type, const std::byte* element) {
  if (type.id() == TypeId::object) {
    const auto& text = *reinterpret_cast<const std::string*>(element);
    if (text.empty()) return Json();  // an element that was never set: Python's None
    try {
      return Json::parse(text);
    } catch (const Error& error) {
      fail_codec(codec, ErrorCode::invalid_argument, "an element is no JSON text: " + error.message());
    }
  }
  // Python's json writes NaN and infinities bare, not as the texts that fill values have.
  if (type.id() == TypeId::float32 && !std::isfinite(load<float>(element)))
    return Json(static_cast<double>(load<float>(element)));
  if (type.id() == TypeId::float64 && !std::isfinite(load<double>(element)))
    return Json(load<double>(element));
  if (type.id() == TypeId::float16) {
    const double value = to_double(type.id(), load<std::uint16_t>(element));
    if (!std::isfinite(value)) return Json(value);
  }
  return element_to_json(type, element);
}

void put_element(const DataType& type, const Json& value, std::byte* element) {
  if (type.id() == TypeId::object) {
    *reinterpret_cast<std::string*>(element) = value.dump({.spaces = false});
  } else if (type.is_float() && value.is_number()) {
    const double number = value.as_double();
    if (std::isnan(number)) element_from_json(type, Json("NaN"), element);
    else if (std::isinf(number))
      element_from_json(type, Json(number < 0 ? "-Infinity" : "Infinity"), element);
    else element_from_json(type, value, element);
  } else {
    element_from_json(type, value, element);
  }
}

Json nested(const std::vector<Json>& elements, std::span<const std::uint64_t> shape, std::size_t& next) {
  if (shape.empty()) return elements[next++];
  JsonArray list;
  list.reserve(static_cast<std::size_t>(shape[0]));
  for (std::uint64_t i = 0; i < shape[0]; ++i) list.push_back(nested(elements, shape.subspan(1), next));
  return Json(std::move(list));
}

// Walks lists nested as deep as `shape` and calls element(value) for what is inside.
template <class Element>
void walk(const Codec& codec, const Json& value, std::span<const std::uint64_t> shape, Element&& element) {
  if (shape.empty()) return element(value);
  if (!value.is_array() || value.as_array().size() != shape[0])
    fail_chunk(codec,
               "found " +
                   std::string(value.is_array()
                                   ? "a list of " + std::to_string(value.as_array().size()) + " elements"
                                   : "no list") +
                   " where the shape in the chunk has " + std::to_string(shape[0]));
  for (const Json& inner : value.as_array()) walk(codec, inner, shape.subspan(1), element);
}

Shape shape_of(const Codec& codec, const Json& extents) {
  if (!extents.is_array())
    fail_chunk(codec, "the last item is " + std::string(extents.type_name()) + ", expected the shape");
  Shape shape;
  for (const Json& extent : extents.as_array()) {
    const std::optional<std::uint64_t> value = extent.to_uint64();
    if (!value) fail_chunk(codec, "the shape " + extents.dump() + " has an extent that is no natural number");
    shape.push_back(*value);
  }
  return shape;
}

// Elements of a shape that a chunk states; nullopt beyond 64 bits.
std::optional<std::uint64_t> count_of(const Shape& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    const std::optional<std::uint64_t> next = checked_multiply(product, extent);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

std::string dtype_of(const DataType& type) {
  if (type.is_variable()) return "|O";
  return type.to_v2().as_string();
}

}  // namespace

bool has_json_elements(const DataType& type) noexcept {
  switch (type.id()) {
    case TypeId::boolean:
    case TypeId::string:
    case TypeId::object:
    case TypeId::fixed_utf32: return true;
    case TypeId::bfloat16: return false;
    default:
      return (type.is_integer() || type.is_float()) &&
             (type.item_size() > 1 || type.id() == TypeId::int8 || type.id() == TypeId::uint8);
  }
}

Json to_json_list(const Codec& codec, const ArrayView& decoded, bool with_shape) {
  std::vector<Json> elements;
  elements.reserve(static_cast<std::size_t>(decoded.size()));
  for_each_row(decoded, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
    for (std::uint64_t k = 0; k < count; ++k, row += step)
      elements.push_back(element_as_json(codec, decoded.type, row));
  });
  std::size_t next = 0;
  Json whole = nested(elements, decoded.shape, next);
  JsonArray list = decoded.shape.empty() ? JsonArray{std::move(whole)} : std::move(whole.as_array());
  list.push_back(Json(dtype_of(decoded.type)));
  if (!with_shape) return Json(std::move(list));
  JsonArray shape;
  for (const std::uint64_t extent : decoded.shape) shape.push_back(Json(extent));
  list.push_back(Json(std::move(shape)));
  return Json(std::move(list));
}

void from_json_list(const Codec& codec, const Json& list, const ArrayView& decoded, bool with_shape) {
  const std::size_t trailer = with_shape ? 2 : 1;
  if (!list.is_array() || list.as_array().size() < trailer)
    fail_chunk(codec,
               std::string("found no list that ends with a data type") + (with_shape ? " and a shape" : ""));
  const JsonArray& items = list.as_array();
  const std::size_t outer = items.size() - trailer;
  const Json& dtype = items[outer];
  if (!dtype.is_string() && !dtype.is_array())
    fail_chunk(codec,
               "after the elements there is " + std::string(dtype.type_name()) + ", expected the data type");
  const Shape shape = with_shape ? shape_of(codec, items.back()) : decoded.shape;
  if (count_of(shape) != decoded.size())
    fail_chunk(codec, "the shape in the chunk is " + to_string(shape) + ", expected the " +
                          std::to_string(decoded.size()) + " elements of " + to_string(decoded.shape));

  std::vector<std::byte*> targets;
  targets.reserve(static_cast<std::size_t>(decoded.size()));
  for_each_row(decoded, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
    for (std::uint64_t k = 0; k < count; ++k, row += step) targets.push_back(row);
  });
  std::size_t next = 0;
  const auto put = [&](const Json& value) {
    try {
      put_element(decoded.type, value, targets[next++]);
    } catch (const Error& error) {
      fail_chunk(codec, "an element is no " + decoded.type.name() + ": " + error.message());
    }
  };
  const std::span<const std::uint64_t> inner(shape);
  if (shape.empty() ? outer < 1 : outer != shape[0])
    fail_chunk(codec, "found " + std::to_string(outer) +
                          " items before the data type, the shape in the chunk is " + to_string(shape));
  if (shape.empty()) return put(items[0]);
  for (std::size_t i = 0; i < outer; ++i) walk(codec, items[i], inner.subspan(1), put);
}

}  // namespace zarrive
