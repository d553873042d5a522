// What the tests of kernel bodies share: data, seeds, and running a body on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/sanitizers.hpp"
#include "gpu/kernels/list.hpp"

namespace zarrive::gpu::testing {

using Random = std::mt19937_64;
using Bytes = std::vector<std::uint8_t>;

inline std::uint64_t pick(Random& random, std::uint64_t count) { return random() % count; }
template <class T, std::size_t N>
T one_of(Random& random, const T (&list)[N]) {
  return list[pick(random, N)];
}
// Small numbers as often as large ones.
inline std::size_t some_size(Random& random, std::size_t greatest) {
  const unsigned bits =
      1 + static_cast<unsigned>(pick(random, 64 - static_cast<unsigned>(__builtin_clzll(greatest))));
  return std::min<std::size_t>(greatest, pick(random, std::uint64_t{1} << bits));
}

// How many cases, and from which seed: ZARRIVE_KERNEL_CASES and ZARRIVE_KERNEL_SEED. Case i of seed s is case 0 of seed s + i.
struct Cases {
  std::uint64_t first = 1;
  std::uint64_t count = 0;

  explicit Cases(std::uint64_t usual, const char* name)
      : count(ZARRIVE_ASAN || ZARRIVE_TSAN ? usual / 10 : usual) {
    if (const char* const text = std::getenv("ZARRIVE_KERNEL_CASES"))
      count = std::strtoull(text, nullptr, 10);
    if (const char* const text = std::getenv("ZARRIVE_KERNEL_SEED")) first = std::strtoull(text, nullptr, 10);
    else first = std::random_device{}();
    std::printf("%s: %llu cases, ZARRIVE_KERNEL_SEED=%llu\n", name, static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(first));
  }
  static std::string repeat(std::uint64_t seed) {
    return "to repeat: ZARRIVE_KERNEL_SEED=" + std::to_string(seed) + " ZARRIVE_KERNEL_CASES=1";
  }
};

// Random, constant, repeating, slowly growing, or pieces of all.
inline Bytes some_data(Random& random, std::size_t size) {
  Bytes data(size);
  switch (pick(random, 10)) {
    case 0:
      for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
      break;
    case 1: std::fill(data.begin(), data.end(), static_cast<std::uint8_t>(random())); break;
    case 2: {
      const std::size_t period = 1 + some_size(random, 40000);
      for (std::size_t i = 0; i < size; ++i)
        data[i] = i < period ? static_cast<std::uint8_t>(random()) : data[i - period];
      break;
    }
    case 3:
    case 4:
    case 5: {
      const std::size_t width = std::size_t{1} << pick(random, 4);
      std::uint64_t value = random();
      for (std::size_t i = 0; i < size; ++i) {
        if (i % width == 0) value += pick(random, 16);
        data[i] = static_cast<std::uint8_t>(value >> (8 * (i % width)));
      }
      break;
    }
    case 6: {
      const std::uint64_t letters = 1 + pick(random, 6);
      for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(pick(random, letters));
      break;
    }
    default:
      for (std::size_t begin = 0; begin < size;) {
        const std::size_t length = std::min(size - begin, 1 + some_size(random, 5000));
        const bool again = begin != 0 && pick(random, 2) == 0;
        const std::size_t distance = again ? 1 + pick(random, begin) : 0;
        const auto value = static_cast<std::uint8_t>(random());
        const bool constant = pick(random, 2) == 0;
        for (std::size_t i = begin; i < begin + length; ++i)
          data[i] = again ? data[i - distance] : constant ? value : static_cast<std::uint8_t>(random());
        begin += length;
      }
  }
  return data;
}

// Memory of exactly this size, so that AddressSanitizer sees one byte too many; without it, guards on both sides do.
class Guarded {
 public:
  explicit Guarded(std::size_t size) : size_(size) {
    if (ZARRIVE_ASAN) {
      exact_ = std::make_unique<std::uint8_t[]>(size);
      data_ = exact_.get();
    } else {
      around_.assign(size + 2 * guard, 0xC5);
      data_ = around_.data() + guard;
    }
    std::memset(data_, 0xEE, size);
  }
  explicit Guarded(const Bytes& bytes) : Guarded(bytes.size()) {
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  Guarded(Guarded&&) = default;
  Guarded& operator=(Guarded&&) = default;
  std::uint8_t* data() { return data_; }
  std::size_t size() const { return size_; }
  Bytes bytes() const { return Bytes(data_, data_ + size_); }
  bool intact() const {
    if (around_.empty()) return true;
    const auto is_guard = [](std::uint8_t byte) { return byte == 0xC5; };
    return std::all_of(around_.begin(), around_.begin() + guard, is_guard) &&
           std::all_of(around_.end() - guard, around_.end(), is_guard);
  }

 private:
  static constexpr std::ptrdiff_t guard = 64;
  std::size_t size_;
  std::unique_ptr<std::uint8_t[]> exact_;
  Bytes around_;
  std::uint8_t* data_ = nullptr;
};

// Every unit once, in random order.
template <class Body>
void run_units(const Body& body, Random& random) {
  std::vector<std::uint64_t> units(static_cast<std::size_t>(body.units));
  std::iota(units.begin(), units.end(), std::uint64_t{0});
  std::shuffle(units.begin(), units.end(), random);
  for (const std::uint64_t unit : units) body.run(unit, kernels::HostGroup{});
}

}  // namespace zarrive::gpu::testing

namespace zarrive::gpu {

// Every test of kernels speaks of these.
using testing::Bytes;
using testing::Cases;
using testing::Guarded;
using testing::one_of;
using testing::pick;
using testing::Random;
using testing::run_units;
using testing::some_data;
using testing::some_size;

}  // namespace zarrive::gpu
