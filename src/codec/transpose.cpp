// `transpose`: dimension i of the encoded array is dimension order[i] of the decoded one. (Zarr v3 codec
// "transpose".)
//
// Nothing needs to be copied: the encoded array is a view of the decoded one's memory.
#include <algorithm>
#include <utility>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"

namespace zarrive {
namespace {

class TransposeCodec final : public ArrayToArrayCodec {
 public:
  // What the metadata says: a permutation, or one of the words of the first v3 drafts, which suit any rank.
  enum class Word : std::uint8_t { none, c, f };
  TransposeCodec(std::vector<std::size_t> order, Word word) : order_(std::move(order)), word_(word) {}

  CodecCapabilities capabilities() const noexcept override { return {.fixed_size = true, .strided = true}; }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    auto bound = std::make_shared<TransposeCodec>(*this);
    bound->order_ = order_for(decoded.shape.size());
    bound->word_ = Word::none;
    return bound;
  }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    ArraySpec encoded = decoded;
    const std::vector<std::size_t> order = order_for(decoded.shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) encoded.shape[i] = decoded.shape[order[i]];
    return encoded;
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const override {
    copy(view(decoded), encoded);
  }
  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const override {
    copy(encoded, view(decoded));
  }
  std::optional<ArrayView> view_as_encoded(const ArrayView& decoded) const override { return view(decoded); }
  std::optional<std::vector<std::size_t>> transposition(std::size_t ndim) const override {
    return order_for(ndim);
  }

 private:
  ArrayView view(const ArrayView& decoded) const { return decoded.transposed(order_for(decoded.ndim())); }

  std::vector<std::size_t> order_for(std::size_t rank) const {
    std::vector<std::size_t> order = order_;
    if (word_ != Word::none) {
      order.resize(rank);
      for (std::size_t i = 0; i < rank; ++i) order[i] = word_ == Word::f ? rank - 1 - i : i;
    }
    if (order.size() != rank)
      fail_codec(*this, ErrorCode::invalid_metadata,
                 "'order' has " + std::to_string(order.size()) + " entries, the array has " +
                     std::to_string(rank) + " dimensions");
    return order;
  }

  std::vector<std::size_t> order_;
  Word word_;
};

}  // namespace

std::shared_ptr<Codec> make_transpose(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const Json* order = configuration.find("order");
  configuration.finish();
  if (!order) configuration.fail("'order' is missing: expected a permutation of the dimensions, e.g. [1, 0]");
  if (order->is_string() && (order->as_string() == "C" || order->as_string() == "F")) {
    const std::string message = "'order' is \"" + order->as_string() +
                                "\", a form that Zarr v3 dropped: expected a list of dimensions";
    if (options.strict) configuration.fail(message);
    if (options.warn) options.warn("codec '" + spec.name + "': " + message);
    return std::make_shared<TransposeCodec>(std::vector<std::size_t>{}, order->as_string() == "F"
                                                                            ? TransposeCodec::Word::f
                                                                            : TransposeCodec::Word::c);
  }
  if (!order->is_array())
    configuration.fail("'order' is " + order->dump() + ", expected a list of dimensions, e.g. [1, 0]");
  const std::size_t rank = order->as_array().size();
  std::vector<std::size_t> permutation;
  std::vector<bool> seen(rank, false);
  for (const Json& entry : order->as_array()) {
    const std::optional<std::uint64_t> dimension = entry.to_uint64();
    if (!dimension || *dimension >= rank || seen[static_cast<std::size_t>(*dimension)])
      configuration.fail("'order' is " + order->dump() + ", expected each of 0 to " + std::to_string(rank) +
                         " - 1 once");
    seen[static_cast<std::size_t>(*dimension)] = true;
    permutation.push_back(static_cast<std::size_t>(*dimension));
  }
  return std::make_shared<TransposeCodec>(std::move(permutation), TransposeCodec::Word::none);
}

}  // namespace zarrive
