// `delta`: differences of neighbours in the flat chunk. (numcodecs "delta".)
//
// encoded[0] = x[0], encoded[i] = x[i] - x[i-1] in `dtype` (integers wrap; bool: exclusive or), cast to `astype`; decoded by a running sum in
// `dtype`, or for floats in the type that NumPy promotes `dtype` and `astype` to.
#include <algorithm>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/filter.hpp"
#include "codec/numbers.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

// Differences and sums in T; integers are handled unsigned, so that they wrap.
template <class T>
struct Plain {
  using Stored = T;
  static T difference(T a, T b) noexcept { return static_cast<T>(a - b); }
  static T sum(T a, T b) noexcept { return static_cast<T>(a + b); }
};
struct Xor {
  using Stored = std::uint8_t;
  static Stored difference(Stored a, Stored b) noexcept { return (a != 0) != (b != 0); }
  static Stored sum(Stored a, Stored b) noexcept { return (a != 0) != (b != 0); }
};
template <TypeId kId>
struct Small {  // 16-bit floats, rounded after each step
  using Stored = std::uint16_t;
  static Stored difference(Stored a, Stored b) noexcept {
    return from_double(kId, to_double(kId, a) - to_double(kId, b));
  }
  static Stored sum(Stored a, Stored b) noexcept {
    return from_double(kId, to_double(kId, a) + to_double(kId, b));
  }
};

template <class Work>
void differences(const std::byte* from, std::byte* to, std::uint64_t count) noexcept {
  using T = typename Work::Stored;
  if (count > 0) store<T>(to, load<T>(from));
  for (std::uint64_t i = 1; i < count; ++i)
    store<T>(to + i * sizeof(T),
             Work::difference(load<T>(from + i * sizeof(T)), load<T>(from + (i - 1) * sizeof(T))));
}

template <class Work>
void sums(std::byte* at, std::uint64_t count) noexcept {
  using T = typename Work::Stored;
  if (count == 0) return;
  T total = load<T>(at);
  for (std::uint64_t i = 1; i < count; ++i) {
    total = Work::sum(total, load<T>(at + i * sizeof(T)));
    store<T>(at + i * sizeof(T), total);
  }
}

// Calls work.operator()<Work>() with what suits the type; false when delta is not for it.
template <class F>
bool with_work(const DataType& type, F&& work) {
  switch (type.id()) {
    case TypeId::boolean: work.template operator()<Xor>(); return true;
    case TypeId::float16: work.template operator()<Small<TypeId::float16>>(); return true;
    case TypeId::float32: work.template operator()<Plain<float>>(); return true;
    case TypeId::float64: work.template operator()<Plain<double>>(); return true;
    case TypeId::int8:
    case TypeId::uint8: work.template operator()<Plain<std::uint8_t>>(); return true;
    case TypeId::int16:
    case TypeId::uint16: work.template operator()<Plain<std::uint16_t>>(); return true;
    case TypeId::int32:
    case TypeId::uint32: work.template operator()<Plain<std::uint32_t>>(); return true;
    case TypeId::int64:
    case TypeId::uint64:
    case TypeId::datetime64:
    case TypeId::timedelta64: work.template operator()<Plain<std::uint64_t>>(); return true;
    default: return false;
  }
}

// Where NumPy adds up: in the promotion of both types. It makes a difference in the last bits of floats; wrapping integers and bool stay what they
// are (there NumPy's way would lose values).
DataType sum_type(const DataType& decoded, const DataType& encoded) {
  if (!decoded.is_float()) return decoded;
  std::size_t size = decoded.item_size();
  if (encoded.is_float()) size = std::max(size, encoded.item_size());
  else if (encoded.item_size() >= 4) size = 8;
  else if (encoded.item_size() == 2) size = std::max<std::size_t>(size, 4);
  return DataType(size == 2 ? TypeId::float16 : size == 4 ? TypeId::float32 : TypeId::float64);
}

class DeltaCodec final : public TypedFilter {
 public:
  using TypedFilter::TypedFilter;
  CodecCapabilities capabilities() const noexcept override { return {.fixed_size = true}; }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    const Types types = resolve(decoded.type);
    // A chunk of fill encodes to fill, 0, 0, ...: only zero stays uniform.
    const FillValue fill = decoded.fill.is_zero() && !decoded.fill.is_undefined()
                               ? FillValue::zero(types.encoded)
                               : FillValue::undefined(types.encoded);
    return {types.encoded, decoded.shape, fill};
  }

 protected:
  void check_types(const Types& types) const override {
    if (!with_work(types.decoded, []<class Work>() {}))
      fail_type(*this, types.decoded, "bool, integers, float16 to float64 and datetimes");
    if (!can_cast(types.decoded, types.encoded) || types.encoded.is_complex())
      fail_type(*this, types.encoded, "a real type to store the differences in");
  }

  void encode_as(const ArrayView& decoded, const ArrayView& encoded) const override {
    if (decoded.type == encoded.type) return run_differences(decoded, encoded.data);
    Buffer memory = allocate_encoded(decoded.nbytes());
    run_differences(decoded, memory.mutable_data());
    cast_elements(ArrayView(memory.mutable_data(), decoded.type, decoded.shape), encoded);
  }

  void decode_as(const ArrayView& encoded, const ArrayView& decoded) const override {
    const std::uint64_t count = decoded.size();
    const DataType work = sum_type(decoded.type, encoded.type);
    Buffer memory;
    ArrayView sum = decoded;
    if (!(work == decoded.type)) {
      memory = allocate_encoded(byte_count(decoded.shape, work.item_size()));
      sum = ArrayView(memory.mutable_data(), work, decoded.shape);
    }
    cast_elements(encoded, sum);
    with_work(work, [&]<class Work>() { sums<Work>(sum.data, count); });
    if (!memory.empty()) cast_elements(sum, decoded);
  }

  // Sums of floats depend on the order, and those of an own work type are cast afterwards: both are left to the host.
  bool add_device_steps_as(gpu::kernels::NumberType encoded, gpu::kernels::NumberType decoded,
                           DeviceSteps& steps) const override {
    if (gpu::kernels::is_float(decoded) || gpu::kernels::is_float(encoded) || steps.delta) return false;
    if (encoded != decoded) steps.operations.push_back(device_convert(encoded, decoded));
    steps.before_delta = std::exchange(steps.operations, {});
    steps.delta = {gpu::kernels::size_of(decoded), decoded == gpu::kernels::NumberType::boolean};
    return true;
  }

 private:
  static void run_differences(const ArrayView& decoded, std::byte* to) {
    const std::uint64_t count = decoded.size();
    with_work(decoded.type, [&]<class Work>() { differences<Work>(decoded.data, to, count); });
  }
};

}  // namespace

std::shared_ptr<Codec> make_delta(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  FilterTypes types = filter_types(configuration);
  configuration.finish();
  return std::make_shared<DeltaCodec>(std::move(types));
}

}  // namespace zarrive
