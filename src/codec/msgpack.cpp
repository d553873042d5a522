#include "codec/msgpack.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/utf8.hpp"
#include "zarrive/error.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive {
namespace {

constexpr int kMaxDepth = 200;  // as in the JSON reader

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(ErrorCode::corrupt_chunk, "MessagePack: " + what);
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  Json document() {
    Json value = read(0);
    if (!rest_.empty()) corrupt(std::to_string(rest_.size()) + " bytes follow the value");
    return value;
  }

 private:
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size())
      corrupt("a value needs " + std::to_string(count) + " more bytes, " + std::to_string(rest_.size()) +
              " are left");
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(static_cast<std::size_t>(count));
    return taken;
  }

  std::uint64_t big_endian(std::size_t size) {
    std::uint64_t value = 0;
    for (const std::byte byte : take(size)) value = value << 8 | std::to_integer<std::uint64_t>(byte);
    return value;
  }

  std::string text(std::uint64_t length) {
    const auto bytes = take(length);
    const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!is_utf8(view)) corrupt("a text is not UTF-8");
    return std::string(view);
  }

  Json binary(std::uint64_t length) { return Json(base64_encode(take(length))); }

  Json list(std::uint64_t count, int depth) {
    JsonArray items;
    items.reserve(static_cast<std::size_t>(
        std::min<std::uint64_t>(count, rest_.size())));  // an item has at least one byte
    for (std::uint64_t i = 0; i < count; ++i) items.push_back(read(depth + 1));
    return Json(std::move(items));
  }

  Json map(std::uint64_t count, int depth) {
    JsonObject members;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Json name = read(depth + 1);
      if (!name.is_string())
        corrupt("a map has a key that is " + std::string(name.type_name()) + ", expected a text");
      members.set(name.as_string(), read(depth + 1));
    }
    return Json(std::move(members));
  }

  Json read(int depth) {
    if (depth > kMaxDepth)
      throw Error(ErrorCode::resource_limit,
                  "MessagePack: nested deeper than " + std::to_string(kMaxDepth) + " levels");
    const unsigned head = std::to_integer<unsigned>(take(1)[0]);
    if (head < 0x80) return Json(head);
    if (head < 0x90) return map(head & 0x0FU, depth);
    if (head < 0xA0) return list(head & 0x0FU, depth);
    if (head < 0xC0) return Json(text(head & 0x1FU));
    if (head >= 0xE0) return Json(static_cast<int>(head) - 256);
    switch (head) {
      case 0xC0: return Json();
      case 0xC2: return Json(false);
      case 0xC3: return Json(true);
      case 0xC4: return binary(big_endian(1));
      case 0xC5: return binary(big_endian(2));
      case 0xC6: return binary(big_endian(4));
      case 0xCA:
        return Json(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4)))));
      case 0xCB: return Json(std::bit_cast<double>(big_endian(8)));
      case 0xCC: return Json(big_endian(1));
      case 0xCD: return Json(big_endian(2));
      case 0xCE: return Json(big_endian(4));
      case 0xCF: return Json(big_endian(8));
      case 0xD0: return Json(static_cast<int>(static_cast<std::int8_t>(big_endian(1))));
      case 0xD1: return Json(static_cast<int>(static_cast<std::int16_t>(big_endian(2))));
      case 0xD2: return Json(static_cast<int>(static_cast<std::int32_t>(big_endian(4))));
      case 0xD3: return Json(static_cast<long long>(big_endian(8)));
      case 0xD9: return Json(text(big_endian(1)));
      case 0xDA: return Json(text(big_endian(2)));
      case 0xDB: return Json(text(big_endian(4)));
      case 0xDC: return list(big_endian(2), depth);
      case 0xDD: return list(big_endian(4), depth);
      case 0xDE: return map(big_endian(2), depth);
      case 0xDF: return map(big_endian(4), depth);
      default: break;  // 0xC1 is never used; 0xC7 to 0xC9 and 0xD4 to 0xD8 are extension types
    }
    corrupt(head == 0xC1 ? "found the byte 0xC1, which starts no value"
                         : "found an extension type, which JSON values do not have");
  }

  std::span<const std::byte> rest_;
};

class Writer {
 public:
  explicit Writer(bool single_floats) : single_floats_(single_floats) {}

  void write(const Json& value) {
    switch (value.type()) {
      case Json::Type::null: return head(0xC0);
      case Json::Type::boolean: return head(value.as_bool() ? 0xC3 : 0xC2);
      case Json::Type::number: return number(value);
      case Json::Type::string: return text(value.as_string());
      case Json::Type::array: {
        const JsonArray& items = value.as_array();
        counted(items.size(), 0x90, 16, 0, 0xDC, 0xDD);
        for (const Json& item : items) write(item);
        return;
      }
      case Json::Type::object: {
        const JsonObject& members = value.as_object();
        counted(members.size(), 0x80, 16, 0, 0xDE, 0xDF);
        for (const auto& [name, member] : members) {
          text(name);
          write(member);
        }
        return;
      }
    }
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void head(unsigned byte) { bytes_.push_back(static_cast<std::byte>(byte)); }
  void big_endian(std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
      head(static_cast<unsigned>(value >> shift & 0xFFU));
  }
  void headed(unsigned byte, std::uint64_t value, int size) {
    head(byte);
    big_endian(value, size);
  }

  // A length with the heads for: up to `limit` in the head itself, 8 bits (0: there is none), 16 bits, 32
  // bits.
  void counted(std::uint64_t count, unsigned fixed, unsigned limit, unsigned head8, unsigned head16,
               unsigned head32) {
    if (count < limit) head(fixed | static_cast<unsigned>(count));
    else if (head8 != 0 && count <= 0xFF) headed(head8, count, 1);
    else if (count <= 0xFFFF) headed(head16, count, 2);
    else if (count <= 0xFFFFFFFF) headed(head32, count, 4);
    else
      throw Error(ErrorCode::invalid_argument,
                  "MessagePack: " + std::to_string(count) + " items do not fit its 32-bit count");
  }

  void text(const std::string& value) {
    counted(value.size(), 0xA0, 32, 0xD9, 0xDA, 0xDB);
    const auto* data = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), data, data + value.size());
  }

  void number(const Json& value) {
    if (!value.is_integer()) {
      const double real = value.as_double();
      if (single_floats_) return headed(0xCA, std::bit_cast<std::uint32_t>(static_cast<float>(real)), 4);
      return headed(0xCB, std::bit_cast<std::uint64_t>(real), 8);
    }
    if (const std::optional<std::uint64_t> natural = value.to_uint64()) {
      if (*natural < 0x80) head(static_cast<unsigned>(*natural));
      else if (*natural <= 0xFF) headed(0xCC, *natural, 1);
      else if (*natural <= 0xFFFF) headed(0xCD, *natural, 2);
      else if (*natural <= 0xFFFFFFFF) headed(0xCE, *natural, 4);
      else headed(0xCF, *natural, 8);
      return;
    }
    const std::optional<std::int64_t> negative = value.to_int64();
    if (!negative)
      throw Error(ErrorCode::invalid_argument,
                  "MessagePack: the integer " + value.number_text() + " does not fit 64 bits");
    const auto bits = static_cast<std::uint64_t>(*negative);
    if (*negative >= -32) head(static_cast<unsigned>(bits & 0xFFU));
    else if (*negative >= std::numeric_limits<std::int8_t>::min()) headed(0xD0, bits, 1);
    else if (*negative >= std::numeric_limits<std::int16_t>::min()) headed(0xD1, bits, 2);
    else if (*negative >= std::numeric_limits<std::int32_t>::min()) headed(0xD2, bits, 4);
    else headed(0xD3, bits, 8);
  }

  bool single_floats_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Json read_msgpack(std::span<const std::byte> bytes) { return Reader(bytes).document(); }

std::vector<std::byte> write_msgpack(const Json& value, bool single_floats) {
  Writer writer(single_floats);
  writer.write(value);
  return writer.take();
}

}  // namespace zarrive
