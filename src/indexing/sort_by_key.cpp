#include "indexing/sort_by_key.hpp"

#include <algorithm>
#include <array>

namespace zarrive {

void sort_by_key(std::vector<KeyedItem>& items) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  if (items.size() < 256) {  // the buckets alone would cost more
    std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return;
  }
  std::uint64_t all = 0, common = ~std::uint64_t{0};
  for (const KeyedItem& item : items) all |= item.key, common &= item.key;
  const std::uint64_t differ = all & ~common;
  std::vector<KeyedItem> other(items.size());
  for (unsigned shift = 0; shift < 64 && differ >> shift != 0; shift += kBits) {
    if ((differ >> shift & (kBuckets - 1)) == 0) continue;
    std::array<std::uint64_t, kBuckets> at{};
    for (const KeyedItem& item : items) ++at[item.key >> shift & (kBuckets - 1)];
    std::uint64_t sum = 0;
    for (std::uint64_t& bucket : at) {
      const std::uint64_t count = bucket;
      bucket = sum;
      sum += count;
    }
    for (const KeyedItem& item : items) other[at[item.key >> shift & (kBuckets - 1)]++] = item;
    items.swap(other);
  }
}

}  // namespace zarrive
