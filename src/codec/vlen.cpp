// `vlen-utf8` and `vlen-bytes`: texts and byte strings of any length. (zarr-extensions codecs of these names;
// numcodecs the same bytes.)
#include "codec/vlen.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "base/utf8.hpp"
#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/rows.hpp"

namespace zarrive {

void read_vlen(const Codec& codec, std::span<const std::byte> encoded, std::uint64_t expected,
               const std::function<void(std::uint64_t, std::span<const std::byte>)>& element) {
  if (encoded.size() < 4)
    fail_chunk(codec,
               "found " + std::to_string(encoded.size()) + " bytes, expected a count of 4 bytes first");
  const std::uint64_t count = load<std::uint32_t>(encoded.data());
  if (count != expected)
    fail_chunk(codec, "found a count of " + std::to_string(count) + " elements, the chunk has " +
                          std::to_string(expected));
  std::size_t at = 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (encoded.size() - at < 4)
      fail_chunk(codec, "the bytes end before the length of element " + std::to_string(i) + " of " +
                            std::to_string(count));
    const std::size_t length = load<std::uint32_t>(encoded.data() + at);
    at += 4;
    if (length > encoded.size() - at)
      fail_chunk(codec, "element " + std::to_string(i) + " has a length of " + std::to_string(length) +
                            " bytes, " + std::to_string(encoded.size() - at) + " are left");
    element(i, encoded.subspan(at, length));
    at += length;
  }
  if (at != encoded.size())
    fail_chunk(codec, std::to_string(encoded.size() - at) + " bytes follow the last element");
}

Buffer write_vlen(const Codec& codec, std::uint64_t count,
                  const std::function<std::string_view(std::uint64_t)>& element) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (count > kMost)
    fail_codec(codec, ErrorCode::invalid_argument,
               std::to_string(count) + " elements do not fit its 32-bit count");
  std::uint64_t size = 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = element(i).size();
    if (length > kMost)
      fail_codec(codec, ErrorCode::invalid_argument,
                 "element " + std::to_string(i) + " has " + std::to_string(length) +
                     " bytes, which do not fit its 32-bit length");
    size = add(size, 4 + length, "bytes of a variable-length chunk");
  }
  Buffer out = allocate_encoded(static_cast<std::size_t>(size));
  std::byte* at = out.mutable_data();
  store(at, static_cast<std::uint32_t>(count));
  at += 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view bytes = element(i);
    store(at, static_cast<std::uint32_t>(bytes.size()));
    if (!bytes.empty()) std::memcpy(at + 4, bytes.data(), bytes.size());
    at += 4 + bytes.size();
  }
  return out;
}

std::vector<std::string*> string_elements(const ArrayView& view) {
  std::vector<std::string*> elements;
  elements.reserve(static_cast<std::size_t>(view.size()));
  for_each_row(view, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, row += step)
      elements.push_back(reinterpret_cast<std::string*>(row));
  });
  return elements;
}

namespace {

class VlenCodec final : public ArrayToBytesCodec {
 public:
  explicit VlenCodec(bool text) : text_(text) {}
  CodecCapabilities capabilities() const noexcept override { return {.strided = true}; }

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    check_type(decoded.type);
    return std::make_shared<VlenCodec>(*this);
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context&) const override {
    check_type(spec.type);
    const std::vector<std::string*> elements = string_elements(decoded);
    if (text_)
      for (std::size_t i = 0; i < elements.size(); ++i)
        if (!is_utf8(*elements[i]))
          fail_codec(*this, ErrorCode::invalid_argument,
                     "element " + std::to_string(i) + " is not UTF-8 text");
    return write_vlen(*this, elements.size(), [&](std::uint64_t i) {
      return std::string_view(*elements[static_cast<std::size_t>(i)]);
    });
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context&) const override {
    check_type(spec.type);
    const std::vector<std::string*> elements = string_elements(decoded);
    read_vlen(*this, encoded, elements.size(), [&](std::uint64_t i, std::span<const std::byte> bytes) {
      const std::string_view value(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (text_ && !is_utf8(value)) fail_chunk(*this, "element " + std::to_string(i) + " is not UTF-8 text");
      elements[static_cast<std::size_t>(i)]->assign(value);
    });
  }

 private:
  void check_type(const DataType& type) const {
    if (type.id() != (text_ ? TypeId::string : TypeId::bytes))
      fail_type(*this, type, text_ ? "string" : "bytes of variable length");
  }
  bool text_;
};

std::shared_ptr<Codec> make_vlen(const CodecSpec& spec, const CodecOptions& options, bool text) {
  Configuration(spec, options).finish();
  return std::make_shared<VlenCodec>(text);
}

}  // namespace

std::shared_ptr<Codec> make_vlen_utf8(const CodecSpec& spec, const CodecOptions& options) {
  return make_vlen(spec, options, true);
}
std::shared_ptr<Codec> make_vlen_bytes(const CodecSpec& spec, const CodecOptions& options) {
  return make_vlen(spec, options, false);
}

}  // namespace zarrive
