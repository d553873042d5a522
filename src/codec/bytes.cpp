// `bytes`: elements in C order, each multi-byte part in a stated byte order. (Zarr v3 codec "bytes", formerly
// "endian".)
//
// The encoded bytes are the dense array up to what `fix` does to each element: swapping bytes, and making the
// in-memory form of types whose stored bytes leave some bits open (a bool is 0 or 1 in memory; sub-byte types
// use their low bits alone). So a chunk can be read straight into the caller's array and fixed there.
#include "codec/bytes.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"
#include "codec/dense_part.hpp"
#include "codec/device_operations.hpp"
#include "codec/device_steps.hpp"
#include "codec/rows.hpp"

namespace zarrive {
namespace {

static_assert(std::endian::native == std::endian::little, "elements in memory are little-endian");

template <class U>
U swapped(U value) noexcept {
  if constexpr (sizeof(U) == 2) return __builtin_bswap16(value);
  else if constexpr (sizeof(U) == 4) return __builtin_bswap32(value);
  else return __builtin_bswap64(value);
}

template <class U>
void swap_run(std::byte* at, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) store<U>(at + i * sizeof(U), swapped(load<U>(at + i * sizeof(U))));
}

// What has to be done to one element, part by part.
struct Fix {
  enum class Kind : std::uint8_t { swap2, swap4, swap8, boolean, low_bits, signed_low_bits };
  Kind kind;
  std::uint8_t bits;   // of the low-bits kinds
  std::size_t offset;  // from the element's start
  std::size_t count;
};

void apply(const Fix& fix, std::byte* element, std::size_t elements) noexcept {
  std::byte* at = element + fix.offset;
  const std::size_t count = fix.count * elements;
  switch (fix.kind) {
    case Fix::Kind::swap2: swap_run<std::uint16_t>(at, count); break;
    case Fix::Kind::swap4: swap_run<std::uint32_t>(at, count); break;
    case Fix::Kind::swap8: swap_run<std::uint64_t>(at, count); break;
    case Fix::Kind::boolean:
      for (std::size_t i = 0; i < count; ++i) at[i] = std::byte{at[i] != std::byte{0}};
      break;
    case Fix::Kind::low_bits:
      for (std::size_t i = 0; i < count; ++i) at[i] &= static_cast<std::byte>((1U << fix.bits) - 1);
      break;
    case Fix::Kind::signed_low_bits: {
      const unsigned sign = 1U << (fix.bits - 1);
      for (std::size_t i = 0; i < count; ++i) {
        const unsigned low = std::to_integer<unsigned>(at[i]) & ((1U << fix.bits) - 1);
        at[i] = static_cast<std::byte>((low ^ sign) - sign);
      }
      break;
    }
  }
}

// Bits of a type that uses only the low ones of its byte; 0 for every other type.
std::uint8_t sub_byte_bits(TypeId id) noexcept {
  switch (id) {
    case TypeId::int2:
    case TypeId::uint2: return 2;
    case TypeId::int4:
    case TypeId::uint4:
    case TypeId::float4_e2m1fn: return 4;
    case TypeId::float6_e2m3fn:
    case TypeId::float6_e3m2fn: return 6;
    default: return 0;
  }
}

// More separate fixes in one element would come only from a huge subarray of records.
constexpr std::size_t kMaxFixes = 65536;

// Fixes of values for decoding one element; those for encoding are the same, with the open bits zero. Each is for parts of one byte.
std::vector<Fix> value_fixes(const DataType& type) {
  if (type.id() == TypeId::boolean) return {{Fix::Kind::boolean, 0, 0, 1}};
  if (const std::uint8_t bits = sub_byte_bits(type.id()))
    return {{type.is_integer() && type.is_signed() ? Fix::Kind::signed_low_bits : Fix::Kind::low_bits, bits,
             0, 1}};
  std::vector<Fix> fixes;
  for (const StructField& field : type.fields()) {
    const std::vector<Fix> inner = value_fixes(field.type);
    if (inner.empty()) continue;
    const std::size_t size = field.type.item_size();
    std::size_t repeats = static_cast<std::size_t>(element_count(field.shape));
    std::size_t count = 1;
    if (inner.size() == 1 && inner[0].count == size)
      std::swap(repeats, count);  // seamless: one fix for the whole subarray
    if (repeats > (kMaxFixes - fixes.size()) / inner.size())
      throw Error(ErrorCode::resource_limit, "a structured type with more than " + std::to_string(kMaxFixes) +
                                                 " parts of separate layout");
    for (std::size_t r = 0; r < repeats; ++r)
      for (const Fix& fix : inner)
        fixes.push_back({fix.kind, fix.bits, field.offset + r * size + fix.offset, count * fix.count});
  }
  return fixes;
}

struct Plan {
  std::vector<Fix> decode;
  std::vector<Fix> encode;
};

class BytesCodec final : public ArrayToBytesCodec {
 public:
  enum class Order : std::uint8_t { unstated, little, big, by_type };
  explicit BytesCodec(Order order, std::function<void(const std::string&)> warn = {}, bool strict = false)
      : order_(order), warn_(std::move(warn)), strict_(strict) {}

  CodecCapabilities capabilities() const noexcept override {
    return {.fixed_size = true, .partial_decode = true, .strided = true};
  }

  std::shared_ptr<const ArrayToBytesCodec> bind(const ArraySpec& decoded) const override {
    auto bound = std::make_shared<BytesCodec>(*this);
    bound->plan_ = std::make_shared<const Plan>(make_plan(decoded.type, true));
    bound->bound_type_ = decoded.type;
    return bound;
  }

  std::optional<std::uint64_t> encoded_size(const ArraySpec& decoded) const override {
    return decoded.nbytes();
  }

  Buffer encode(const ArrayView& decoded, const ArraySpec& spec, const Context&) const override {
    Buffer out = allocate_encoded(spec.nbytes());
    const ArrayView dense(out.mutable_data(), spec.type, spec.shape);
    copy(decoded, dense);
    fix_elements(dense, plan_for(spec.type)->encode);
    return out;
  }

  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context&) const override {
    check_encoded_size(*this, encoded.size(), spec.nbytes());
    copy(ArrayView(const_cast<std::byte*>(encoded.data()), spec.type, spec.shape), decoded);
    fix_elements(decoded, plan_for(spec.type)->decode);
  }

  bool is_memory_layout(const ArraySpec& spec) const override { return !spec.type.is_variable(); }

  void finish_in_place(const ArrayView& decoded) const override {
    fix_elements(decoded, plan_for(decoded.type)->decode);
  }

  bool add_device_steps(const ArraySpec& spec, DeviceSteps& steps) const override {
    std::optional<ByteOrder> order;  // v2: the type's own
    if (order_ != Order::by_type) order = order_ == Order::big ? ByteOrder::big : ByteOrder::little;
    auto fixes = device_fixes(spec.type, order);
    if (!fixes) return false;
    steps.operations = std::move(*fixes);
    return true;
  }

  std::unique_ptr<PartialDecode> decode_partial(PartialRequest request, const ArraySpec& spec,
                                                const Context& context) const override;

  bool finishes_in_place(const ArraySpec& spec) const override {
    return !plan_for(spec.type)->decode.empty();
  }

 private:
  Plan make_plan(const DataType& type, bool check) const;
  std::shared_ptr<const Plan> plan_for(const DataType& type) const {
    if (plan_ && type == bound_type_) return plan_;
    return std::make_shared<const Plan>(make_plan(type, false));
  }
  static void fix_elements(const ArrayView& view, const std::vector<Fix>& fixes);

  Order order_;
  std::function<void(const std::string&)> warn_;
  bool strict_;
  std::shared_ptr<const Plan> plan_;
  DataType bound_type_;
};

Plan BytesCodec::make_plan(const DataType& type, bool check) const {
  if (type.is_variable()) fail_type(*this, type, "types of fixed size (use vlen-utf8 or vlen-bytes)");
  if (type.id() == TypeId::optional) fail_type(*this, type, "types that always have a value (use optional)");
  const auto& leaves = type.leaves();
  const bool multi_byte = !leaves.empty();
  if (order_ == Order::unstated && multi_byte) {
    // zarr-python wrote the type "structured" (before it was "struct") with no byte order, little-endian.
    if (type.id() != TypeId::structured || strict_)
      fail_codec(*this, ErrorCode::invalid_metadata,
                 "'endian' is missing, and " + type.name() +
                     " has parts of more than one byte: expected \"little\" or \"big\"");
    if (check && warn_)
      warn_("codec '" + name() + "': 'endian' is missing for " + type.name() + "; taken as \"little\"");
  }
  Plan plan;
  for (const DataType::Leaf& leaf : leaves) {
    const bool big = order_ == Order::big || (order_ == Order::by_type && leaf.order == ByteOrder::big);
    if (!big || leaf.unit == 1) continue;
    const Fix::Kind kind = leaf.unit == 2   ? Fix::Kind::swap2
                           : leaf.unit == 4 ? Fix::Kind::swap4
                                            : Fix::Kind::swap8;
    plan.decode.push_back({kind, 0, leaf.offset, leaf.count});
  }
  plan.encode = plan.decode;
  for (Fix fix : value_fixes(type)) {
    plan.decode.push_back(fix);
    if (fix.kind == Fix::Kind::signed_low_bits) fix.kind = Fix::Kind::low_bits;
    plan.encode.push_back(fix);
  }
  return plan;
}

void BytesCodec::fix_elements(const ArrayView& view, const std::vector<Fix>& fixes) {
  if (fixes.empty()) return;
  const std::size_t item = view.type.item_size();
  for_each_row(view, [&](std::byte* row, std::int64_t step, std::uint64_t count) {
    const Fix& only = fixes.front();
    std::size_t width = only.count;
    if (only.kind == Fix::Kind::swap2) width *= 2;
    if (only.kind == Fix::Kind::swap4) width *= 4;
    if (only.kind == Fix::Kind::swap8) width *= 8;
    if (fixes.size() == 1 && width == item && step == static_cast<std::int64_t>(item)) {
      apply(only, row, static_cast<std::size_t>(count));  // the fix fills the element: the row is one run
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i, row += step)
      for (const Fix& fix : fixes) apply(fix, row, 1);
  });
}

std::unique_ptr<PartialDecode> BytesCodec::decode_partial(PartialRequest request, const ArraySpec& spec,
                                                          const Context&) const {
  const std::uint64_t item = spec.type.item_size();
  const auto plan = plan_for(spec.type);
  DenseLayout layout;
  layout.encoded_size = spec.nbytes();
  layout.bytes_of = [item](std::uint64_t first, std::uint64_t count) {
    return ByteRange::range(first * item, count * item);
  };
  layout.elements = [plan, &type = spec.type](const Buffer& encoded, std::uint64_t, std::uint64_t count) {
    if (plan->decode.empty()) return encoded;
    Buffer own = allocate_encoded(encoded.size());  // what a store hands out may be its own memory
    std::memcpy(own.mutable_data(), encoded.host_span().data(), encoded.size());
    fix_elements(ArrayView(own.mutable_data(), type, Shape{count}), plan->decode);
    return own;
  };
  layout.finish_in_place = [plan](const ArrayView& decoded) { fix_elements(decoded, plan->decode); };
  return decode_dense_part(*this, std::move(request), spec, std::move(layout));
}

}  // namespace

std::shared_ptr<Codec> make_bytes(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  BytesCodec::Order order = BytesCodec::Order::unstated;
  if (configuration.find("endian"))
    order = configuration.choice("endian", "", {"little", "big"}) == "big" ? BytesCodec::Order::big
                                                                           : BytesCodec::Order::little;
  configuration.finish();
  return std::make_shared<BytesCodec>(order, options.warn, options.strict);
}

std::shared_ptr<const ArrayToBytesCodec> make_v2_bytes_codec() {
  return std::make_shared<BytesCodec>(BytesCodec::Order::by_type);
}

}  // namespace zarrive
