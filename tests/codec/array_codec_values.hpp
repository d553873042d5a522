// What the tests of single array codecs share: known values through a codec, as JSON.
#pragma once

#include "codec/array_codec_suite.hpp"

namespace zarrive::testing {

constexpr auto v2 = ZarrFormat::v2;
constexpr auto v3 = ZarrFormat::v3;

struct Encoded {
  std::string elements;
  ArraySpec spec;
  std::string decoded;
};

// A 1-D array of these elements through an array-to-array codec and back.
inline Encoded through(const std::string& name, const std::string& configuration, ZarrFormat format,
                       const DataType& type, const std::string& elements) {
  const NDArray original = array_of(type, Shape{Json::parse(elements).as_array().size()}, elements);
  ArraySpec spec = spec_of(type, original.shape());
  spec.fill = FillValue::from_bytes(
      type, std::span<const std::byte>(original.view().data, type.item_size()));  // one that the codec takes
  const auto codec = array_codec(name, configuration, format)->bind(spec);
  Encoded result{{}, codec->encoded_spec(spec), {}};
  const NDArray encoded = NDArray::allocate(result.spec.type, result.spec.shape);
  codec->encode(original.view(), encoded.view(), {});
  result.elements = elements_of(encoded.view());
  const NDArray decoded = NDArray::allocate(type, spec.shape);
  codec->decode(encoded.view(), decoded.view(), {});
  result.decoded = elements_of(decoded.view());
  return result;
}
inline Encoded through(const std::string& name, const std::string& configuration, ZarrFormat format,
                       const std::string& type, const std::string& elements) {
  return through(name, configuration, format, DataType::parse(type), elements);
}

inline std::string decode_as(const std::string& name, const std::string& configuration, ZarrFormat format,
                             const std::string& type, const std::string& encoded) {
  const ArraySpec spec = spec_of(type, {Json::parse(encoded).as_array().size()});
  const auto codec = array_codec(name, configuration, format)->bind(spec);
  const NDArray stored = array_of(codec->encoded_spec(spec).type, codec->encoded_spec(spec).shape, encoded);
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  codec->decode(stored.view(), decoded.view(), {});
  return elements_of(decoded.view());
}

inline std::vector<std::byte> encode_bytes(const std::string& name, const std::string& configuration,
                                           ZarrFormat format, const NDArray& array) {
  const ArraySpec spec = spec_of(array.type(), array.shape());
  return to_bytes(
      bytes_codec(name, configuration, format)->bind(spec)->encode(array.view(), spec, {}).host_span());
}

inline NDArray strings(TypeId type, const Shape& shape, const std::vector<std::string>& values) {
  const NDArray array = NDArray::allocate(DataType(type), shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    reinterpret_cast<std::string*>(array.view().data)[i] = values[i];
  return array;
}

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace zarrive::testing
