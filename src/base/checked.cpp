#include "zarrive/checked.hpp"

#include <algorithm>
#include <limits>

#include "zarrive/error.hpp"

namespace zarrive {

std::uint64_t add(std::uint64_t a, std::uint64_t b, const char* what) {
  if (auto sum = checked_add(a, b)) return *sum;
  throw Error(ErrorCode::resource_limit, std::string(what) + ": " + std::to_string(a) + " + " +
                                             std::to_string(b) + " does not fit in 64 bits");
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, const char* what) {
  if (auto product = checked_multiply(a, b)) return *product;
  throw Error(ErrorCode::resource_limit, std::string(what) + ": " + std::to_string(a) + " * " +
                                             std::to_string(b) + " does not fit in 64 bits");
}

std::uint64_t element_count(std::span<const std::uint64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (std::uint64_t extent : shape) {
    auto product = checked_multiply(count, extent);
    if (!product)
      throw Error(ErrorCode::resource_limit,
                  "an array of shape " + to_string(shape) + " has more than 2^64 - 1 elements");
    count = *product;
  }
  return count;
}

std::size_t byte_count(std::span<const std::uint64_t> shape, std::size_t item_size) {
  auto bytes = checked_multiply(element_count(shape), item_size);
  if (!bytes || *bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    throw Error(ErrorCode::resource_limit, "an array of shape " + to_string(shape) + " with elements of " +
                                               std::to_string(item_size) +
                                               " bytes does not fit in memory (2^63 - 1 bytes)");
  return static_cast<std::size_t>(*bytes);
}

Strides c_strides(std::span<const std::uint64_t> shape, std::size_t item_size) {
  byte_count(shape, item_size);
  const bool empty = std::find(shape.begin(), shape.end(), 0u) != shape.end();
  Strides strides(shape.size());
  std::uint64_t stride = item_size;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(stride);
    // An empty array may have other extents whose product fits nowhere; no stride of it is ever used.
    const std::uint64_t next =
        checked_multiply(stride, std::max<std::uint64_t>(shape[i], 1)).value_or(stride);
    const bool fits = next <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!empty || fits) stride = next;
  }
  return strides;
}

std::string to_string(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace zarrive
