// Walks views of any strides a row at a time, so that the loop over elements is a plain one with a constant
// step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "zarrive/memory.hpp"

namespace zarrive {

// Elements of packed types lie at any address: always through memcpy, which compiles to a plain load or
// store.
template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
void store(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof(T));
}

// Steps `index` to the next position of a box in C order; false (and back at the start) after the last one.
inline bool next_position(std::span<std::uint64_t> index, std::span<const std::uint64_t> extent) noexcept {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < extent[d]) return true;
    index[d] = 0;
  }
  return false;
}

// Calls row(pointers, strides, count) for the rows of `N` views of one shape, in C order. Dimensions that
// every view walks with one step are joined, so dense views are one row. Nothing is called for empty views; a
// 0-d view is one row of one element.
template <std::size_t N, class Row>
void for_each_row(const Shape& shape, const ArrayView* const (&views)[N], Row&& row) {
  struct Dimension {
    std::uint64_t extent;
    std::int64_t strides[N];
  };
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return;
    if (shape[d] == 1) continue;
    Dimension next{shape[d], {}};
    for (std::size_t v = 0; v < N; ++v) next.strides[v] = views[v]->strides[d];
    bool joins = !dimensions.empty();
    for (std::size_t v = 0; joins && v < N; ++v)
      joins = dimensions.back().strides[v] == next.strides[v] * static_cast<std::int64_t>(next.extent);
    if (joins) {
      next.extent *= dimensions.back().extent;
      dimensions.back() = next;
    } else {
      dimensions.push_back(next);
    }
  }
  std::byte* at[N];
  for (std::size_t v = 0; v < N; ++v) at[v] = views[v]->data;
  std::int64_t steps[N];
  for (std::size_t v = 0; v < N; ++v) steps[v] = static_cast<std::int64_t>(views[v]->type.item_size());
  std::uint64_t count = 1;
  if (!dimensions.empty()) {
    count = dimensions.back().extent;
    for (std::size_t v = 0; v < N; ++v) steps[v] = dimensions.back().strides[v];
    dimensions.pop_back();
  }
  std::vector<std::uint64_t> index(dimensions.size(), 0);
  for (;;) {
    row(static_cast<std::byte* const*>(at), static_cast<const std::int64_t*>(steps), count);
    std::size_t d = dimensions.size();
    for (;;) {
      if (d-- == 0) return;
      if (++index[d] < dimensions[d].extent) {
        for (std::size_t v = 0; v < N; ++v) at[v] += dimensions[d].strides[v];
        break;
      }
      for (std::size_t v = 0; v < N; ++v)
        at[v] -= dimensions[d].strides[v] * static_cast<std::int64_t>(dimensions[d].extent - 1);
      index[d] = 0;
    }
  }
}

template <class Row>
void for_each_row(const ArrayView& view, Row&& row) {
  const ArrayView* const views[] = {&view};
  for_each_row(view.shape, views, [&](std::byte* const* at, const std::int64_t* steps, std::uint64_t count) {
    row(at[0], steps[0], count);
  });
}

// row(a, a's step, b, b's step, count); the shape is a's.
template <class Row>
void for_each_row(const ArrayView& a, const ArrayView& b, Row&& row) {
  const ArrayView* const views[] = {&a, &b};
  for_each_row(a.shape, views, [&](std::byte* const* at, const std::int64_t* steps, std::uint64_t count) {
    row(at[0], steps[0], at[1], steps[1], count);
  });
}

}  // namespace zarrive
