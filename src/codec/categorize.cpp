// `categorize`: texts from a list as small integers: 1 + the place in the list, 0 for everything else, which
// decodes to "". (numcodecs "categorize".)
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/filter.hpp"
#include "codec/numbers.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

void append_utf8(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | point >> 6);
    text += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | point >> 12);
    text += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (point >> 18 & 0x07));
    text += static_cast<char>(0x80 | (point >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (point & 0x3F));
  }
}

// The code points of valid UTF-8 (JSON strings are).
std::vector<std::uint32_t> code_points(const std::string& text) {
  std::vector<std::uint32_t> points;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xC0) == 0x80) points.back() = points.back() << 6 | (byte & 0x3FU);
    else
      points.push_back(byte < 0x80   ? byte
                       : byte < 0xE0 ? byte & 0x1FU
                       : byte < 0xF0 ? byte & 0x0FU
                                     : byte & 0x07U);
  }
  return points;
}

// An element as text, and a label as an element.
std::string text_of(const DataType& type, const std::byte* element) {
  if (type.is_variable()) {
    const auto& value = *reinterpret_cast<const std::string*>(element);
    if (type.id() == TypeId::string || value.empty()) return value;
    const Json json = Json::parse(value);  // of an object: JSON text
    return json.is_string() ? json.as_string() : std::string();
  }
  std::string text;
  std::size_t count = type.item_size() / 4;
  while (count > 0 && load<std::uint32_t>(element + 4 * (count - 1)) == 0) --count;
  for (std::size_t k = 0; k < count; ++k) append_utf8(text, load<std::uint32_t>(element + 4 * k));
  return text;
}

void put_text(const DataType& type, const std::string& text, std::byte* element) {
  if (type.is_variable()) {
    *reinterpret_cast<std::string*>(element) = type.id() == TypeId::string ? text : Json(text).dump();
    return;
  }
  const std::vector<std::uint32_t> points = code_points(text);
  for (std::size_t k = 0; k < type.item_size() / 4; ++k)
    store<std::uint32_t>(element + 4 * k, k < points.size() ? points[k] : 0);
}

class CategorizeCodec final : public ArrayToArrayCodec {
 public:
  CategorizeCodec(std::vector<std::string> labels, DataType astype)
      : labels_(std::move(labels)), astype_(std::move(astype)) {
    for (std::size_t i = 0; i < labels_.size(); ++i) codes_[labels_[i]] = i + 1;
  }
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    const TypeId id = decoded.type.id();
    if (id != TypeId::string && id != TypeId::object && id != TypeId::fixed_utf32)
      fail_type(*this, decoded.type, "text");
    return ArrayToArrayCodec::bind(decoded);
  }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    std::vector<std::byte> element(astype_.item_size());
    const auto* fill = decoded.type.is_variable() ? reinterpret_cast<const std::byte*>(&decoded.fill.string())
                                                  : decoded.fill.bytes().data();
    put_code(code_of(text_of(decoded.type, fill)), element.data());
    return {astype_, decoded.shape, FillValue::from_bytes(astype_, element)};
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const override {
    for_each_row(
        decoded, encoded,
        [&](std::byte* from, std::int64_t step, std::byte* to, std::int64_t to_step, std::uint64_t count) {
          for (std::uint64_t k = 0; k < count; ++k, from += step, to += to_step)
            put_code(code_of(text_of(decoded.type, from)), to);
        });
  }

  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const override {
    static const std::string kNone;
    NumberBlock block;
    for_each_row(
        encoded, decoded,
        [&](std::byte* from, std::int64_t step, std::byte* to, std::int64_t to_step, std::uint64_t count) {
          for (std::uint64_t k = 0; k < count; ++k, from += step, to += to_step) {
            load_numbers(astype_, from, step, 1, block);
            const std::uint64_t code = block.u[0];
            if (code > labels_.size())
              fail_chunk(*this, "found code " + std::to_string(block.signed_at(0)) + ", there are " +
                                    std::to_string(labels_.size()) + " labels");
            put_text(decoded.type, code == 0 ? kNone : labels_[static_cast<std::size_t>(code - 1)], to);
          }
        });
  }

 private:
  std::uint64_t code_of(const std::string& text) const {
    const auto found = codes_.find(text);
    return found == codes_.end() ? 0 : found->second;
  }
  void put_code(std::uint64_t code, std::byte* to) const {
    NumberBlock block;
    block.carrier = Carrier::uint64;
    block.u[0] = code;
    store_numbers(astype_, block, 1, to, static_cast<std::int64_t>(astype_.item_size()));
  }

  std::vector<std::string> labels_;
  DataType astype_;
  std::unordered_map<std::string, std::uint64_t> codes_;
};

}  // namespace

std::shared_ptr<Codec> make_categorize(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const Json* list = configuration.find("labels");
  dtype_member(configuration, "dtype");  // the array's type says it
  const DataType astype = dtype_member(configuration, "astype").value_or(DataType());
  configuration.finish();
  if (!list || !list->is_array())
    configuration.fail("'labels' is missing or no list, expected a list of texts");
  if (!astype.is_integer() || is_sub_byte(astype))
    configuration.fail("'astype' is " + astype.name() + ", expected an integer type");
  std::vector<std::string> labels;
  for (const Json& label : list->as_array()) {
    if (!label.is_string()) configuration.fail("'labels' has " + label.dump() + ", expected texts only");
    labels.push_back(label.as_string());
  }
  const unsigned bits = 8 * static_cast<unsigned>(astype.item_size()) - (astype.is_signed() ? 1 : 0);
  if (bits < 64 && labels.size() >> bits != 0)
    configuration.fail(std::to_string(labels.size()) + " labels do not fit 'astype' " + astype.name());
  return std::make_shared<CategorizeCodec>(std::move(labels), astype);
}

}  // namespace zarrive
