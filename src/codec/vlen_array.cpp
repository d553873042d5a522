// `vlen-array`: ragged arrays of one number type. (numcodecs "vlen-array".)
//
// An element is in memory an object: the JSON text of a list, with each number in the exact form of a fill
// value.
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/filter.hpp"
#include "codec/numbers.hpp"
#include "codec/vlen.hpp"

namespace zarrive {
namespace {

class VlenArrayCodec final : public ArrayToBytesCodec {
 public:
  explicit VlenArrayCodec(DataType item) : item_(std::move(item)) {}
  CodecCapabilities capabilities() const noexcept override { return {.strided = true}; }

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    if (decoded.type.id() != TypeId::object) fail_type(*this, decoded.type, "object");
    return ArrayToBytesCodec::bind(decoded);
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec&, const Context&) const override {
    const std::vector<std::string*> elements = string_elements(decoded);
    std::vector<std::string> items;
    items.reserve(elements.size());
    for (const std::string* element : elements) items.push_back(encode_element(*element));
    return write_vlen(*this, items.size(),
                      [&](std::uint64_t i) { return std::string_view(items[static_cast<std::size_t>(i)]); });
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec&, const ArrayView& decoded,
              const Context&) const override {
    const std::vector<std::string*> elements = string_elements(decoded);
    read_vlen(*this, encoded, elements.size(), [&](std::uint64_t i, std::span<const std::byte> bytes) {
      *elements[static_cast<std::size_t>(i)] = decode_element(bytes);
    });
  }

 private:
  // "" and null are empty lists.
  std::string encode_element(const std::string& text) const {
    std::string bytes;
    if (text.empty()) return bytes;
    try {
      const Json list = Json::parse(text);
      if (list.is_null()) return bytes;
      std::vector<std::byte> item(item_.item_size());
      const ArrayView view(item.data(), item_, Shape{});
      for (const Json& number : list.as_array()) {
        element_from_json(item_, number, item.data());
        if (item_.byte_order() == ByteOrder::big) swap_elements(view);
        bytes.append(reinterpret_cast<const char*>(item.data()), item.size());
      }
    } catch (const Error& error) {
      fail_codec(*this, ErrorCode::invalid_argument,
                 "expected the JSON text of a list of " + item_.name() + ": " + error.message());
    }
    return bytes;
  }

  std::string decode_element(std::span<const std::byte> bytes) const {
    const std::size_t size = item_.item_size();
    if (bytes.size() % size != 0)
      fail_chunk(*this, "an element has " + std::to_string(bytes.size()) +
                            " bytes, which is no multiple of " + std::to_string(size));
    std::string text = "[";
    std::vector<std::byte> item(size);
    const ArrayView view(item.data(), item_, Shape{});
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                bytes.begin() + static_cast<std::ptrdiff_t>(at + size), item.begin());
      if (item_.byte_order() == ByteOrder::big) swap_elements(view);
      if (at > 0) text += ',';
      text += element_to_json(item_, item.data()).dump({.spaces = false});
    }
    return text + "]";
  }

  DataType item_;
};

}  // namespace

std::shared_ptr<Codec> make_vlen_array(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const std::optional<DataType> item = dtype_member(configuration, "dtype");
  configuration.finish();
  if (!item) configuration.fail("'dtype' is missing, expected a data type such as \"<i4\"");
  if (!item->is_real() && !item->is_complex() && item->id() != TypeId::boolean)
    configuration.fail("'dtype' is " + item->name() + ", expected bool or a type of numbers");
  return std::make_shared<VlenArrayCodec>(*item);
}

}  // namespace zarrive
