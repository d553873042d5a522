// `zfp` of Zarr v3 (a bare zfp stream) and numcodecs `zfpy` (the same after zfp's own header), through libzfp
// when it is built in.
//
// libzfp reads as many words as the data lead it to, without looking at the end of its buffer. So the bytes
// are decoded from a copy that is as long as the longest stream of these parameters, the rest zero, and a
// stream that ran into the zeros is refused afterwards.
#include "codec/array_codecs.hpp"

#ifdef ZARRIVE_HAVE_ZFP

#include <zfp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "codec/configuration.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

struct Close {
  void operator()(zfp_field* field) const noexcept { zfp_field_free(field); }
  void operator()(zfp_stream* stream) const noexcept { zfp_stream_close(stream); }
  void operator()(bitstream* bits) const noexcept { stream_close(bits); }
};
template <class T>
using Owned = std::unique_ptr<T, Close>;

// How elements become one of the four types that zfp takes.
struct Promotion {
  zfp_type type = zfp_type_none;
  DataType wide;          // of what zfp sees
  unsigned shift = 0;     // small integers go to the high bits, as zfp's own promotion functions have it
  std::int64_t bias = 0;  // subtracted before
};

std::optional<Promotion> promotion_of(const DataType& type) {
  const DataType int32(TypeId::int32);
  switch (type.id()) {
    case TypeId::int8: return Promotion{zfp_type_int32, int32, 23, 0};
    case TypeId::uint8: return Promotion{zfp_type_int32, int32, 23, 0x80};
    case TypeId::int16: return Promotion{zfp_type_int32, int32, 15, 0};
    case TypeId::uint16: return Promotion{zfp_type_int32, int32, 15, 0x8000};
    case TypeId::int32:
    case TypeId::uint32: return Promotion{zfp_type_int32, int32, 0, 0};  // what fits int32
    case TypeId::int64:
    case TypeId::uint64:
    case TypeId::datetime64:
    case TypeId::timedelta64: return Promotion{zfp_type_int64, DataType(TypeId::int64), 0, 0};
    case TypeId::float16:
    case TypeId::bfloat16:
    case TypeId::float32: return Promotion{zfp_type_float, DataType(TypeId::float32), 0, 0};
    case TypeId::float64: return Promotion{zfp_type_double, DataType(TypeId::float64), 0, 0};
    default: return std::nullopt;
  }
}

// Small integers to the high bits of int32 and back; false when a value does not fit.
template <class T>
bool promote(const std::byte* from, std::byte* to, std::uint64_t count, const Promotion& promotion) noexcept {
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::int64_t value = (static_cast<std::int64_t>(load<T>(from + k * sizeof(T))) - promotion.bias) *
                               (std::int64_t{1} << promotion.shift);
    if (value > INT32_MAX) return false;
    store(to + k * 4, static_cast<std::int32_t>(value));
  }
  return true;
}
template <class T>
bool demote(const std::byte* from, std::byte* to, std::uint64_t count, const Promotion& promotion) noexcept {
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::int64_t value = (load<std::int32_t>(from + k * 4) >> promotion.shift) + promotion.bias;
    const auto low = static_cast<std::int64_t>(std::numeric_limits<T>::min());
    const auto high = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    store(to + k * sizeof(T), static_cast<T>(std::clamp(value, low, high)));
  }
  return true;
}

// Calls f.operator()<T>() for the integer types that are not int32, int64 or 64 bits wide themselves.
template <class F>
bool with_small_integer(TypeId id, F&& f) {
  switch (id) {
    case TypeId::int8: return f.template operator()<std::int8_t>();
    case TypeId::uint8: return f.template operator()<std::uint8_t>();
    case TypeId::int16: return f.template operator()<std::int16_t>();
    case TypeId::uint16: return f.template operator()<std::uint16_t>();
    default: return f.template operator()<std::uint32_t>();
  }
}

struct Mode {
  enum class Kind : std::uint8_t { reversible, expert, accuracy, rate, precision };
  Kind kind = Kind::reversible;
  double number = 0;  // tolerance or rate
  unsigned precision = 0;
  unsigned minbits = 0, maxbits = 0, maxprec = 0;
  int minexp = 0;
};

class ZfpCodec final : public ArrayToBytesCodec {
 public:
  ZfpCodec(Mode mode, bool header) : mode_(mode), header_(header) {}

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    promotion(decoded.type);
    if (decoded.shape.size() > 4)
      fail_codec(*this, ErrorCode::invalid_metadata,
                 "found " + std::to_string(decoded.shape.size()) + " dimensions, takes at most 4");
    return ArrayToBytesCodec::bind(decoded);
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context&) const override {
    if (decoded.size() == 0) return Buffer();
    const Promotion wide = promotion(spec.type);
    Buffer promoted;
    const std::byte* values = decoded.data;
    if (!same(spec.type, wide)) {
      promoted = allocate_encoded(byte_count(spec.shape, wide.wide.item_size()));
      widen(spec.type, decoded, promoted.mutable_data(), wide);
      values = promoted.data();
    }
    const Owned<zfp_stream> stream(zfp_stream_open(nullptr));
    set_mode(*stream, wide.type, static_cast<unsigned>(std::max<std::size_t>(spec.shape.size(), 1)));
    const Owned<zfp_field> field(make_field(const_cast<std::byte*>(values), wide.type, spec.shape));
    Buffer out = allocate_encoded(zfp_stream_maximum_size(stream.get(), field.get()));
    const Owned<bitstream> bits(stream_open(out.mutable_data(), out.size()));
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    zfp_stream_rewind(stream.get());
    if (header_ && zfp_write_header(stream.get(), field.get(), ZFP_HEADER_FULL) == 0)
      fail_codec(*this, ErrorCode::invalid_argument,
                 "zfp has no header for a chunk of shape " + to_string(spec.shape));
    const std::size_t size = zfp_compress(stream.get(), field.get());
    if (size == 0) fail_codec(*this, ErrorCode::internal, "zfp_compress failed");
    return Buffer::copy_of(out.host_span().first(size));
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context&) const override {
    if (decoded.size() == 0) return check_encoded_size(*this, encoded.size(), 0);
    if (encoded.empty()) fail_chunk(*this, "found no bytes, expected a zfp stream");
    const Promotion wide = promotion(spec.type);
    const Owned<zfp_stream> stream(zfp_stream_open(nullptr));
    Owned<zfp_field> field(make_field(nullptr, wide.type, spec.shape));
    if (header_) read_header(encoded, *stream, *field, wide.type, decoded.size());
    else set_mode(*stream, wide.type, static_cast<unsigned>(std::max<std::size_t>(spec.shape.size(), 1)));

    unsigned minbits = 0;
    zfp_stream_params(stream.get(), &minbits, nullptr, nullptr, nullptr);
    const std::uint64_t least = multiply(zfp_field_blocks(field.get()), minbits, "bits of a zfp stream") / 8;
    if (least > encoded.size())
      fail_chunk(*this, "found " + std::to_string(encoded.size()) + " bytes, expected at least " +
                            std::to_string(least));
    const std::size_t longest = zfp_stream_maximum_size(stream.get(), field.get()) + 64;
    Buffer memory = allocate_encoded(std::max(longest, (encoded.size() + 7) / 8 * 8 + 64));
    std::memcpy(memory.mutable_data(), encoded.data(), encoded.size());
    std::memset(memory.mutable_data() + encoded.size(), 0, memory.size() - encoded.size());

    Buffer promoted;
    std::byte* values = decoded.data;
    if (!same(spec.type, wide)) {
      promoted = allocate_encoded(byte_count(spec.shape, wide.wide.item_size()));
      values = promoted.mutable_data();
    }
    zfp_field_set_pointer(field.get(), values);
    const Owned<bitstream> bits(stream_open(memory.mutable_data(), memory.size()));
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    zfp_stream_rewind(stream.get());
    if (header_) zfp_read_header(stream.get(), field.get(), ZFP_HEADER_FULL);
    const std::size_t used = zfp_decompress(stream.get(), field.get());
    // Streams end on a word, which has 1 to 8 bytes depending on how the writer's libzfp was built, and ours.
    if (used == 0 || used > (encoded.size() + 7) / 8 * 8 || used + 8 <= encoded.size())
      fail_chunk(*this, "found " + std::to_string(encoded.size()) + " bytes, the zfp stream has " +
                            std::to_string(used));
    if (!promoted.empty()) narrow(spec.type, promoted.data(), decoded, wide);
  }

 private:
  Promotion promotion(const DataType& type) const {
    std::optional<Promotion> result = promotion_of(type);
    const bool own = type.id() == TypeId::int32 || type.id() == TypeId::int64 ||
                     type.id() == TypeId::float32 || type.id() == TypeId::float64;
    if (!result || (header_ && !own))
      fail_type(*this, type,
                header_ ? "int32, int64, float32 and float64"
                        : "integers of 8 bits and more, floats of 16 bits and more, datetimes");
    return *result;
  }
  static bool same(const DataType& type, const Promotion& wide) noexcept {
    return type.item_size() == wide.wide.item_size() && wide.shift == 0 && type.id() != TypeId::uint32 &&
           type.id() != TypeId::uint64;
  }

  void set_mode(zfp_stream& stream, zfp_type type, unsigned dimensions) const {
    switch (mode_.kind) {
      case Mode::Kind::reversible: zfp_stream_set_reversible(&stream); break;
      case Mode::Kind::accuracy: zfp_stream_set_accuracy(&stream, mode_.number); break;
      case Mode::Kind::rate: zfp_stream_set_rate(&stream, mode_.number, type, dimensions, 0); break;
      case Mode::Kind::precision: zfp_stream_set_precision(&stream, mode_.precision); break;
      case Mode::Kind::expert:
        if (!zfp_stream_set_params(&stream, mode_.minbits, mode_.maxbits, mode_.maxprec, mode_.minexp))
          fail_codec(*this, ErrorCode::invalid_metadata, "zfp refuses these expert parameters");
        break;
    }
  }

  // The last dimension is zfp's first.
  static zfp_field* make_field(std::byte* values, zfp_type type, const Shape& shape) {
    std::vector<std::size_t> n(shape.rbegin(), shape.rend());
    switch (n.size()) {
      case 0: return zfp_field_1d(values, type, 1);
      case 1: return zfp_field_1d(values, type, n[0]);
      case 2: return zfp_field_2d(values, type, n[0], n[1]);
      case 3: return zfp_field_3d(values, type, n[0], n[1], n[2]);
      default: return zfp_field_4d(values, type, n[0], n[1], n[2], n[3]);
    }
  }

  // Its dimensions may be others than the chunk's (a flat chunk, say), as long as it has as many elements.
  void read_header(std::span<const std::byte> encoded, zfp_stream& stream, zfp_field& field, zfp_type type,
                   std::uint64_t elements) const {
    std::uint64_t start[8] = {};  // whole words, longer than any header
    std::memcpy(start, encoded.data(), std::min(encoded.size(), sizeof(start)));
    const Owned<bitstream> bits(stream_open(start, sizeof(start)));
    zfp_stream_set_bit_stream(&stream, bits.get());
    zfp_stream_rewind(&stream);
    if (zfp_read_header(&stream, &field, ZFP_HEADER_FULL) == 0)
      fail_chunk(*this, "the bytes do not start with a zfp header");
    zfp_stream_set_bit_stream(&stream, nullptr);
    if (field.type != type) fail_chunk(*this, "the zfp header names another data type than the array has");
    std::uint64_t count = 1;
    for (const std::size_t extent : {field.nx, field.ny, field.nz, field.nw})
      if (extent != 0) count = multiply(count, extent, "elements of a zfp header");
    if (count != elements)
      fail_chunk(*this, "the zfp header is for " + std::to_string(count) + " elements, the chunk has " +
                            std::to_string(elements));
  }

  void widen(const DataType& type, const ArrayView& decoded, std::byte* to, const Promotion& wide) const {
    const std::uint64_t count = decoded.size();
    if (type.is_float()) {
      for (std::uint64_t k = 0; k < count; ++k)
        store(to + 4 * k,
              static_cast<float>(to_double(type.id(), load<std::uint16_t>(decoded.data + 2 * k))));
      return;
    }
    bool fits = true;
    if (type.id() == TypeId::uint64) {
      for (std::uint64_t k = 0; k < count; ++k) {
        const auto value = load<std::uint64_t>(decoded.data + 8 * k);
        fits = fits && value <= static_cast<std::uint64_t>(INT64_MAX);
        store(to + 8 * k, value);
      }
    } else {
      fits =
          with_small_integer(type.id(), [&]<class T>() { return promote<T>(decoded.data, to, count, wide); });
    }
    if (!fits)
      fail_codec(*this, ErrorCode::invalid_argument,
                 "a value of " + type.name() + " does not fit the signed type that zfp stores it in");
  }

  void narrow(const DataType& type, const std::byte* from, const ArrayView& decoded,
              const Promotion& wide) const {
    const std::uint64_t count = decoded.size();
    if (type.is_float()) {
      for (std::uint64_t k = 0; k < count; ++k)
        store(decoded.data + 2 * k, from_double(type.id(), static_cast<double>(load<float>(from + 4 * k))));
    } else if (type.id() == TypeId::uint64) {
      for (std::uint64_t k = 0; k < count; ++k)
        store(decoded.data + 8 * k,
              static_cast<std::uint64_t>(std::max<std::int64_t>(load<std::int64_t>(from + 8 * k), 0)));
    } else {
      with_small_integer(type.id(), [&]<class T>() { return demote<T>(from, decoded.data, count, wide); });
    }
  }

  Mode mode_;
  bool header_;
};

}  // namespace

std::shared_ptr<Codec> make_zfp(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const std::string name = configuration.choice(
      "mode", "", {"reversible", "expert", "fixed_accuracy", "fixed_rate", "fixed_precision"});
  Mode mode;
  if (name == "expert") {
    mode.kind = Mode::Kind::expert;
    mode.minbits = static_cast<unsigned>(configuration.required_integer("minbits", 0, 0x7FFF));
    mode.maxbits = static_cast<unsigned>(configuration.required_integer("maxbits", 1, 0x7FFF));
    mode.maxprec = static_cast<unsigned>(configuration.required_integer("maxprec", 1, ZFP_MAX_PREC));
    mode.minexp = static_cast<int>(configuration.required_integer("minexp", ZFP_MIN_EXP - 1, 1023));
  } else if (name == "fixed_accuracy") {
    mode.kind = Mode::Kind::accuracy;
    mode.number = configuration.number("tolerance", -1);
    if (!(mode.number > 0)) configuration.fail("'tolerance' is missing or not above 0");
  } else if (name == "fixed_rate") {
    mode.kind = Mode::Kind::rate;
    mode.number = configuration.number("rate", -1);
    if (!(mode.number > 0 && mode.number <= 4096))
      configuration.fail("'rate' is missing or not above 0 bits a value");
  } else if (name == "fixed_precision") {
    mode.kind = Mode::Kind::precision;
    mode.precision = static_cast<unsigned>(configuration.required_integer("precision", 1, ZFP_MAX_PREC));
  }
  if (configuration.boolean("write_header", false))
    configuration.fail("'write_header' is true, a form that zarrs dropped: use numcodecs.zfpy");
  configuration.finish();
  return std::make_shared<ZfpCodec>(mode, false);
}

std::shared_ptr<Codec> make_zfpy(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  // What decides is in the header of each chunk; this is for writing. -1 means reversible.
  const std::int64_t kind = configuration.integer("mode", 5, 1, 5);
  const double tolerance = configuration.number("tolerance", -1);
  const double rate = configuration.number("rate", -1);
  const std::int64_t precision = configuration.integer("precision", -1, -1, ZFP_MAX_PREC);
  configuration.ignore("compression_kwargs");
  configuration.finish();
  Mode mode;
  if (kind == 2 && rate > 0) {
    mode.kind = Mode::Kind::rate;
    mode.number = rate;
  } else if (kind == 3 && precision > 0) {
    mode.kind = Mode::Kind::precision;
    mode.precision = static_cast<unsigned>(precision);
  } else if (kind == 4 && tolerance > 0) {
    mode.kind = Mode::Kind::accuracy;
    mode.number = tolerance;
  }
  return std::make_shared<ZfpCodec>(mode, true);
}

}  // namespace zarrive

#endif
