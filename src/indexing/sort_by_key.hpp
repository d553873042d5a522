// A stable sort of numbered items by integer keys.
#pragma once

#include <cstdint>
#include <vector>

namespace zarrive {

struct KeyedItem {
  std::uint64_t key;
  std::uint64_t item;
};

// Sorts by key, items of equal keys in the order they had. Radix sort: linear in the items, a pass for each 11 bits that differ.
void sort_by_key(std::vector<KeyedItem>& items);

}  // namespace zarrive
