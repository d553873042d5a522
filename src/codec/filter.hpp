// What the numcodecs filters with `dtype` and `astype` share (delta, fixedscaleoffset, quantize, astype).
//
// numcodecs reinterprets the chunk's memory as `dtype`, whatever the array's type is; so do we, for types of
// equal size: an int64 filter on datetimes, say, or a little-endian one on a big-endian array, which then
// works on swapped bytes, as it does in Python.
#pragma once

#include <optional>
#include <string_view>

#include "codec/configuration.hpp"
#include "codec/device_operations.hpp"
#include "codec/device_steps.hpp"
#include "zarrive/codec.hpp"

namespace zarrive {

// A dtype as numcodecs configurations have it: "<f4", "float32" or "f4"; nullopt when absent.
std::optional<DataType> dtype_member(Configuration& configuration, std::string_view member);

// The types that a filter works on. Decoded absent: the array's type; encoded absent: the decoded type.
struct FilterTypes {
  std::optional<DataType> decoded = {};
  std::optional<DataType> encoded = {};
};
FilterTypes filter_types(Configuration& configuration, std::string_view decoded = "dtype",
                         std::string_view encoded = "astype");

class TypedFilter : public ArrayToArrayCodec {
 public:
  explicit TypedFilter(FilterTypes types) : types_(std::move(types)) {}

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override;
  ArraySpec encoded_spec(const ArraySpec& decoded) const override;
  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context& context) const final;
  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context& context) const final;
  bool add_device_steps(const ArraySpec& decoded, DeviceSteps& steps) const final;

 protected:
  struct Types {
    DataType decoded;
    DataType encoded;
    bool swapped = false;  // the array states another byte order than the filter
  };
  // For an array of this type; Error(invalid_metadata) or Error(unsupported_data_type).
  Types resolve(const DataType& array) const;

  virtual void check_types(const Types& types) const = 0;
  // The work itself; the views have the resolved types, and the same shape.
  virtual void encode_as(const ArrayView& decoded, const ArrayView& encoded) const = 0;
  virtual void decode_as(const ArrayView& encoded, const ArrayView& decoded) const = 0;
  // As Codec::add_device_steps, for numbers that kernels have. Default: false.
  virtual bool add_device_steps_as(gpu::kernels::NumberType encoded, gpu::kernels::NumberType decoded,
                                   DeviceSteps& steps) const;

 private:
  FilterTypes types_;
};

}  // namespace zarrive
