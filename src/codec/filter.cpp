#include "codec/filter.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/numbers.hpp"

namespace zarrive {
namespace {

ArrayView viewed_as(const ArrayView& view, const DataType& type) {
  ArrayView result = view;
  result.type = type;
  return result;
}

bool lacks_byte_order(const std::string& text) {
  return text.size() >= 2 && std::string_view("biufcSUVmM").find(text[0]) != std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(text[1]));
}

}  // namespace

std::optional<DataType> dtype_member(Configuration& configuration, std::string_view member) {
  const Json* value = configuration.find(member);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_string())
    configuration.fail("'" + std::string(member) + "' is " + value->dump() +
                       ", expected a data type such as \"<f4\"");
  const std::string& text = value->as_string();
  try {
    if (text == "|O" || text == "O") return DataType(TypeId::object);
    return DataType::parse(lacks_byte_order(text) ? (text[1] == '1' && text.size() == 2 ? "|" : "<") + text
                                                  : text);
  } catch (const Error& error) {
    configuration.fail("'" + std::string(member) + "': " + error.message());
  }
}

FilterTypes filter_types(Configuration& configuration, std::string_view decoded, std::string_view encoded) {
  return {dtype_member(configuration, decoded), dtype_member(configuration, encoded)};
}

TypedFilter::Types TypedFilter::resolve(const DataType& array) const {
  Types types;
  types.decoded = types_.decoded.value_or(array);
  types.encoded = types_.encoded.value_or(types.decoded);
  if (array.is_variable() || types.decoded.item_size() != array.item_size())
    fail_codec(*this, ErrorCode::invalid_metadata,
               "is for elements of type " + types.decoded.name() + ", found " + array.name());
  check_types(types);
  types.swapped = types.decoded.swap_unit() > 1 && array.swap_unit() > 1 &&
                  array.byte_order() != types.decoded.byte_order();
  return types;
}

std::shared_ptr<const ArrayToArrayCodec> TypedFilter::bind(const ArraySpec& decoded) const {
  resolve(decoded.type);
  return ArrayToArrayCodec::bind(decoded);
}

ArraySpec TypedFilter::encoded_spec(const ArraySpec& decoded) const {
  const Types types = resolve(decoded.type);
  ArraySpec encoded{types.encoded, decoded.shape, {}};
  encoded.fill = encode_fill(*this, decoded.fill, types.encoded);
  return encoded;
}

void TypedFilter::encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const {
  const Types types = resolve(decoded.type);
  if (!types.swapped) return encode_as(viewed_as(decoded, types.decoded), viewed_as(encoded, types.encoded));
  Buffer memory = allocate_encoded(decoded.nbytes());
  const ArrayView swapped(memory.mutable_data(), decoded.type, decoded.shape);
  copy(decoded, swapped);
  swap_elements(swapped);
  encode_as(viewed_as(swapped, types.decoded), viewed_as(encoded, types.encoded));
}

void TypedFilter::decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const {
  const Types types = resolve(decoded.type);
  decode_as(viewed_as(encoded, types.encoded), viewed_as(decoded, types.decoded));
  if (types.swapped) swap_elements(decoded);
}

bool TypedFilter::add_device_steps(const ArraySpec& decoded, DeviceSteps& steps) const {
  const Types types = resolve(decoded.type);
  if (types.swapped) return false;
  const auto from = device_number_type(types.encoded);
  const auto to = device_number_type(types.decoded);
  return from && to && add_device_steps_as(*from, *to, steps);
}

bool TypedFilter::add_device_steps_as(gpu::kernels::NumberType, gpu::kernels::NumberType,
                                      DeviceSteps&) const {
  return false;
}

}  // namespace zarrive
