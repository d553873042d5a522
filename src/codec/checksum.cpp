#include "codec/checksum.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>

#include "codec/byte_codecs.hpp"

#ifdef ZARRIVE_HAVE_ISAL
#include <isa-l/crc.h>
#endif

namespace zarrive {
namespace {

using Table = std::array<std::uint32_t, 256>;

// Table k advances a byte by k further zero bytes, so that eight bytes are looked up at once ("slicing by
// 8").
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}
constexpr std::array<Table, 8> kTables = make_tables();

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = bytes_to_bytes::load_le32(at) ^ crc;
    const std::uint32_t high = bytes_to_bytes::load_le32(at + 4);
    crc = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^
          kTables[1][high >> 16 & 0xFF] ^ kTables[0][high >> 24];
  }
  for (; left != 0; --left, ++at)
    crc = crc >> 8 ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xFF];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#ifdef ZARRIVE_HAVE_ISAL
  // isa-l leaves both inversions to the caller, counts in int, and does not write to its buffer.
  constexpr std::size_t kWindow = std::size_t{1} << 30;
  std::uint32_t crc = ~std::uint32_t{0};
  while (!bytes.empty()) {
    const std::size_t count = std::min(kWindow, bytes.size());
    crc = crc32_iscsi(const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data())),
                      static_cast<int>(count), crc);
    bytes = bytes.subspan(count);
  }
  return ~crc;
#else
  return crc32c_portable(bytes);
#endif
}

// libdeflate gives the initial value, not the sum so far, for a null pointer: right, as only an empty span
// has one.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}
std::uint32_t adler32(std::span<const std::byte> bytes) {
  return libdeflate_adler32(1, bytes.data(), bytes.size());
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  const auto fold = [](std::uint32_t sum) { return (sum & 0xFFFF) + (sum >> 16); };
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const std::byte* at = bytes.data();
  std::size_t words = bytes.size() / 2;
  while (words != 0) {
    // The most words after which sum2 cannot have overflowed.
    std::size_t block = std::min<std::size_t>(words, 360);
    words -= block;
    for (; block != 0; --block, at += 2) {
      sum1 += std::to_integer<std::uint32_t>(at[0]) << 8 | std::to_integer<std::uint32_t>(at[1]);
      sum2 += sum1;
    }
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  if (bytes.size() % 2 != 0) {
    sum1 += std::to_integer<std::uint32_t>(*at) << 8;
    sum2 += sum1;
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  // A first fold may leave a carry; a sum that is zero modulo 65535 may stay 0xFFFF.
  return fold(sum2) << 16 | fold(sum1);
}

std::uint32_t jenkins_lookup3(std::span<const std::byte> bytes, std::uint32_t initval) {
  std::uint32_t a = 0xDEADBEEFU + static_cast<std::uint32_t>(bytes.size()) + initval;
  std::uint32_t b = a;
  std::uint32_t c = a;
  const auto round = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int shift) {
    x -= z;
    x ^= std::rotl(z, shift);
    z += y;
  };
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left > 12; left -= 12, at += 12) {
    a += bytes_to_bytes::load_le32(at);
    b += bytes_to_bytes::load_le32(at + 4);
    c += bytes_to_bytes::load_le32(at + 8);
    round(a, b, c, 4);
    round(b, c, a, 6);
    round(c, a, b, 8);
    round(a, b, c, 16);
    round(b, c, a, 19);
    round(c, a, b, 4);
  }
  if (left == 0) return c;
  std::array<std::byte, 12> last{};
  std::copy_n(at, left, last.begin());
  a += bytes_to_bytes::load_le32(last.data());
  b += bytes_to_bytes::load_le32(last.data() + 4);
  c += bytes_to_bytes::load_le32(last.data() + 8);
  const auto final_round = [](std::uint32_t& x, std::uint32_t y, int shift) {
    x ^= y;
    x -= std::rotl(y, shift);
  };
  final_round(c, b, 14);
  final_round(a, c, 11);
  final_round(b, a, 25);
  final_round(c, b, 16);
  final_round(a, c, 4);
  final_round(b, a, 14);
  final_round(c, b, 24);
  return c;
}

}  // namespace zarrive
