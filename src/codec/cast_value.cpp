// `cast_value`: numbers stored as another real type, value by value. (zarr-extensions "cast_value".)
//
// For each value, in this order: the scalar map of the direction; the same value when the target has it;
// rounding, then the rule for what is out of range. Nothing is undefined: what none of these covers is an
// error.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/device_operations.hpp"
#include "codec/device_steps.hpp"
#include "codec/numbers.hpp"
#include "codec/real_cast.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

// A number as the key of a scalar map: equal numbers are equal keys, also 0 and -0, and any two NaNs.
std::uint64_t key_of(const NumberBlock& block, std::size_t k) noexcept {
  if (block.carrier != Carrier::float64) return block.u[k];
  if (block.f[k] == 0) return 0;
  if (std::isnan(block.f[k])) return ~std::uint64_t{0};  // itself a NaN, so no other number's key
  return std::bit_cast<std::uint64_t>(block.f[k]);
}

// One direction, bound to its types.
class Direction {
 public:
  using ScalarMap = std::unordered_map<std::uint64_t, std::uint64_t>;  // key -> element bits

  Direction(DataType from, DataType to, Rounding rounding, OutOfRange out_of_range, ScalarMap map)
      : from_(std::move(from)), to_(to), cast_(std::move(to), rounding, out_of_range), map_(std::move(map)) {}

  // `fail(element)` is called for a value that has no image; it does not return.
  template <class Fail>
  void run(const ArrayView& from, const ArrayView& to, Fail&& fail) const {
    NumberBlock block;
    for_each_row(from, to,
                 [&](std::byte* source, std::int64_t source_step, std::byte* target, std::int64_t target_step,
                     std::uint64_t count) {
                   while (count > 0) {
                     const std::size_t now =
                         static_cast<std::size_t>(std::min<std::uint64_t>(count, NumberBlock::kSize));
                     load_numbers(from_, source, source_step, now, block);
                     for (std::size_t k = 0; k < now; ++k, source += source_step, target += target_step) {
                       const std::optional<std::uint64_t> bits = image(block, k);
                       if (!bits) fail(source);
                       put(*bits, target);
                     }
                     count -= now;
                   }
                 });
  }

 private:
  std::optional<std::uint64_t> image(const NumberBlock& block, std::size_t k) const {
    if (!map_.empty()) {
      const auto found = map_.find(key_of(block, k));
      if (found != map_.end()) return found->second;
    }
    switch (block.carrier) {
      case Carrier::int64: return cast_.from_int64(block.signed_at(k));
      case Carrier::uint64: return cast_.from_uint64(block.u[k]);
      case Carrier::float64: break;
    }
    return cast_.from_double(block.f[k]);
  }

  void put(std::uint64_t bits, std::byte* target) const noexcept {
    switch (to_.item_size()) {
      case 1: return store(target, static_cast<std::uint8_t>(bits));
      case 2: return store(target, static_cast<std::uint16_t>(bits));
      case 4: return store(target, static_cast<std::uint32_t>(bits));
      default: return store(target, bits);
    }
  }

  DataType from_;
  DataType to_;
  RealCast cast_;
  ScalarMap map_;
};

class CastValueCodec final : public ArrayToArrayCodec {
 public:
  CastValueCodec(DataType target, Rounding rounding, OutOfRange out_of_range, Json encode_map,
                 Json decode_map)
      : target_(std::move(target)),
        rounding_(rounding),
        out_of_range_(out_of_range),
        encode_map_(std::move(encode_map)),
        decode_map_(std::move(decode_map)) {}
  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .strided = true, .elementwise = true};
  }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    if (!decoded.type.is_real()) fail_type(*this, decoded.type, "integers and floats");
    auto bound = std::make_shared<CastValueCodec>(*this);
    bound->encode_ =
        std::make_shared<const Direction>(decoded.type, target_, rounding_, out_of_range_,
                                          scalar_map(encode_map_, decoded.type, target_, "encode"));
    bound->decode_ =
        std::make_shared<const Direction>(target_, decoded.type, rounding_, out_of_range_,
                                          scalar_map(decode_map_, target_, decoded.type, "decode"));
    return bound;
  }

  bool add_device_steps(const ArraySpec& decoded, DeviceSteps& steps) const override {
    const auto from = device_number_type(target_);
    const auto to = device_number_type(decoded.type);
    if (!from || !to || !decode_map_.is_null()) return false;
    steps.operations.push_back(device_cast_value(*from, *to, rounding_, out_of_range_));
    return true;
  }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    ArraySpec encoded{target_, decoded.shape, {}};
    if (!encode_) return bind(decoded)->encoded_spec(decoded);
    try {
      encoded.fill = encode_fill(*this, decoded.fill, target_);
      check_fill_survives(decoded.fill, encoded.fill);
    } catch (const Error& error) {
      throw Error(ErrorCode::invalid_metadata, "the fill value: " + error.message());
    }
    return encoded;
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context& context) const override {
    if (!encode_)
      return bind(ArraySpec{decoded.type, {}, FillValue::zero(decoded.type)})
          ->encode(decoded, encoded, context);
    encode_->run(decoded, encoded, [&](const std::byte* element) {
      fail_codec(*this, ErrorCode::invalid_argument,
                 element_to_json(decoded.type, element).dump() + " does not fit " + target_.name() +
                     "; 'out_of_range' or 'scalar_map' can say what it becomes");
    });
  }

  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context& context) const override {
    if (!decode_)
      return bind(ArraySpec{decoded.type, {}, FillValue::zero(decoded.type)})
          ->decode(encoded, decoded, context);
    decode_->run(encoded, decoded, [&](const std::byte* element) {
      fail_chunk(*this, "stored value " + element_to_json(target_, element).dump() + " does not fit " +
                            decoded.type.name());
    });
  }

 private:
  void check_fill_survives(const FillValue& fill, const FillValue& encoded) const {
    if (fill.is_undefined()) return;
    std::vector<std::byte> stored(encoded.bytes().begin(), encoded.bytes().end());
    std::vector<std::byte> back(fill.bytes().size());
    decode(ArrayView(stored.data(), target_, Shape{}), ArrayView(back.data(), fill.type(), Shape{}),
           Context{});
    NumberBlock before;
    NumberBlock after;
    load_numbers(fill.type(), fill.bytes().data(), 0, 1, before);
    load_numbers(fill.type(), back.data(), 0, 1, after);
    if (key_of(before, 0) != key_of(after, 0))
      fail_codec(*this, ErrorCode::invalid_metadata,
                 element_to_json(fill.type(), fill.bytes().data()).dump() + " is stored as " +
                     element_to_json(target_, stored.data()).dump() + " and comes back as " +
                     element_to_json(fill.type(), back.data()).dump());
  }

  Direction::ScalarMap scalar_map(const Json& list, const DataType& from, const DataType& to,
                                  const char* member) const {
    Direction::ScalarMap map;
    if (list.is_null()) return map;
    const std::string where = "'scalar_map." + std::string(member) + "'";
    if (!list.is_array())
      fail_codec(*this, ErrorCode::invalid_metadata,
                 where + " is " + list.dump() + ", expected a list of pairs");
    for (const Json& pair : list.as_array()) {
      if (!pair.is_array() || pair.as_array().size() != 2)
        fail_codec(*this, ErrorCode::invalid_metadata,
                   where + " has " + pair.dump() + ", expected a pair of scalars");
      NumberBlock key;
      const std::vector<std::byte> key_bytes = scalar(pair.as_array()[0], from, where);
      load_numbers(from, key_bytes.data(), 0, 1, key);
      std::vector<std::byte> image = scalar(pair.as_array()[1], to, where);
      image.resize(8);
      map.emplace(key_of(key, 0), load<std::uint64_t>(image.data()));  // the first of equal keys counts
    }
    return map;
  }

  std::vector<std::byte> scalar(const Json& json, const DataType& type, const std::string& where) const {
    try {
      // The specification's own example writes "+Infinity".
      const FillValue value = FillValue::from_v3(
          json.is_string() && json.as_string() == "+Infinity" ? Json("Infinity") : json, type);
      return {value.bytes().begin(), value.bytes().end()};
    } catch (const Error& error) {
      fail_codec(*this, ErrorCode::invalid_metadata, where + ": " + error.message());
    }
  }

  DataType target_;
  Rounding rounding_;
  OutOfRange out_of_range_;
  Json encode_map_;
  Json decode_map_;
  std::shared_ptr<const Direction> encode_;  // once bound
  std::shared_ptr<const Direction> decode_;
};

}  // namespace

std::shared_ptr<Codec> make_cast_value(const CodecSpec& spec, const CodecOptions& options) {
  CodecOptions strict = options;
  strict.strict = true;  // further members are reserved: they would change the meaning
  Configuration configuration(spec, strict);
  const Json* data_type = configuration.find("data_type");
  // In the order of Rounding.
  const std::vector<std::string> roundings = {"nearest-even", "towards-zero", "towards-positive",
                                              "towards-negative", "nearest-away"};
  const std::string rounding = configuration.choice("rounding", "nearest-even", roundings);
  OutOfRange out_of_range = OutOfRange::error;
  if (configuration.find("out_of_range"))
    out_of_range = configuration.choice("out_of_range", "", {"clamp", "wrap"}) == "wrap" ? OutOfRange::wrap
                                                                                         : OutOfRange::clamp;
  const Json* map = configuration.find("scalar_map");
  configuration.finish();
  if (!data_type) configuration.fail("'data_type' is missing, expected the type to store, e.g. \"int16\"");
  const DataType target = DataType::from_v3(*data_type, options.warn);
  if (!target.is_real())
    throw Error(ErrorCode::unsupported_data_type,
                "codec '" + spec.name + "': 'data_type' is " + target.name() + ", takes integers and floats");
  if (out_of_range == OutOfRange::wrap && !target.is_integer())
    configuration.fail("'out_of_range' is \"wrap\", which is for integer types; 'data_type' is " +
                       target.name());
  Json encode_map;
  Json decode_map;
  if (map) {
    if (!map->is_object())
      configuration.fail("'scalar_map' is " + map->dump() +
                         ", expected an object with \"encode\" and \"decode\"");
    for (const auto& [member, value] : map->as_object()) {
      if (member == "encode") encode_map = value;
      else if (member == "decode") decode_map = value;
      else configuration.fail("'scalar_map' has \"" + member + "\", expected \"encode\" and \"decode\" only");
    }
  }
  const auto which = std::find(roundings.begin(), roundings.end(), rounding) - roundings.begin();
  return std::make_shared<CastValueCodec>(target, static_cast<Rounding>(which), out_of_range,
                                          std::move(encode_map), std::move(decode_map));
}

}  // namespace zarrive
