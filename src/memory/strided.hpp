// Walking over elements of strided views in the cheapest order.
//
// The order in which elements are visited is free for copy, fill and comparison. So dimensions are flipped to positive strides,
// sorted by stride, and merged where one continues the other; what remains is a short list of loops around one long inner run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "zarrive/memory.hpp"

namespace zarrive::detail {

// One loop over N views at a time.
template <std::size_t N>
struct Loop {
  std::uint64_t count = 1;
  std::array<std::int64_t, N> steps{};
};

template <std::size_t N>
struct Walk {
  std::array<std::byte*, N> data{};
  std::vector<Loop<N>> loops;  // outermost first; no loop of one element
  bool empty = false;
};

// The views have one shape. The last view decides the order (it is the one that is written).
template <std::size_t N>
Walk<N> plan_walk(const std::array<const ArrayView*, N>& views) {
  constexpr std::size_t lead = N - 1;
  Walk<N> walk;
  for (std::size_t v = 0; v < N; ++v) walk.data[v] = views[v]->data;
  const Shape& shape = views[lead]->shape;
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) {
    walk.empty = true;
    return walk;
  }
  std::vector<Loop<N>> loops;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    Loop<N> loop;
    loop.count = shape[i];
    for (std::size_t v = 0; v < N; ++v) loop.steps[v] = views[v]->strides[i];
    if (loop.steps[lead] < 0)
      for (std::size_t v = 0; v < N; ++v) {
        walk.data[v] += static_cast<std::int64_t>(loop.count - 1) * loop.steps[v];
        loop.steps[v] = -loop.steps[v];
      }
    loops.push_back(loop);
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const auto& a, const auto& b) { return a.steps[lead] > b.steps[lead]; });
  for (const Loop<N>& inner : loops) {
    if (!walk.loops.empty()) {
      Loop<N>& outer = walk.loops.back();
      bool continues = true;
      for (std::size_t v = 0; v < N; ++v)
        continues = continues && outer.steps[v] == static_cast<std::int64_t>(inner.count) * inner.steps[v];
      if (continues) {
        outer.count *= inner.count;
        outer.steps = inner.steps;
        continue;
      }
    }
    walk.loops.push_back(inner);
  }
  return walk;
}

// Calls body(pointers) for each position of the outer loops; stops when it returns false and then returns false.
template <std::size_t N, class Body>
bool for_each_position(std::array<std::byte*, N> data, const std::vector<Loop<N>>& loops, const Body& body) {
  std::vector<std::uint64_t> at(loops.size(), 0);
  for (;;) {
    if (!body(data)) return false;
    std::size_t i = loops.size();
    for (;; --i) {
      if (i == 0) return true;
      const Loop<N>& loop = loops[i - 1];
      if (++at[i - 1] < loop.count) {
        for (std::size_t v = 0; v < N; ++v) data[v] += loop.steps[v];
        break;
      }
      at[i - 1] = 0;
      for (std::size_t v = 0; v < N; ++v)
        data[v] -= static_cast<std::int64_t>(loop.count - 1) * loop.steps[v];
    }
  }
}

}  // namespace zarrive::detail
