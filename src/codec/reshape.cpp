// `reshape`: the same elements in C order under another shape. (zarr-extensions "reshape".)
#include <utility>
#include <variant>

#include "codec/array_codecs.hpp"
#include "codec/configuration.hpp"

namespace zarrive {
namespace {

// One dimension of the encoded array: an extent, the dimensions of the decoded one that it joins, or whatever
// is left.
struct Rest {};
using Entry = std::variant<std::uint64_t, std::vector<std::size_t>, Rest>;

class ReshapeCodec final : public ArrayToArrayCodec {
 public:
  explicit ReshapeCodec(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  CodecCapabilities capabilities() const noexcept override { return {.fixed_size = true}; }

  std::shared_ptr<const ArrayToArrayCodec> bind(const ArraySpec& decoded) const override {
    encoded_shape(decoded.shape);
    return ArrayToArrayCodec::bind(decoded);
  }

  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    return {decoded.type, encoded_shape(decoded.shape), decoded.fill};
  }

  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context&) const override {
    copy(ArrayView(decoded.data, decoded.type, encoded.shape), encoded);
  }
  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context&) const override {
    copy(ArrayView(encoded.data, encoded.type, decoded.shape), decoded);
  }
  std::optional<ArrayView> view_as_encoded(const ArrayView& decoded) const override {
    if (!decoded.is_contiguous()) return std::nullopt;
    return ArrayView(decoded.data, decoded.type, encoded_shape(decoded.shape), decoded.space);
  }

 private:
  [[noreturn]] void refuse(const Shape& from, const std::string& why) const {
    fail_codec(*this, ErrorCode::invalid_metadata,
               "'shape' does not suit chunks of shape " + to_string(from) + ": " + why);
  }

  Shape encoded_shape(const Shape& from) const {
    Shape to;
    std::optional<std::size_t> rest;
    for (const Entry& entry : entries_) {
      if (const auto* dimensions = std::get_if<std::vector<std::size_t>>(&entry)) {
        Shape joined;
        for (const std::size_t d : *dimensions) {
          if (d >= from.size()) refuse(from, "there is no dimension " + std::to_string(d));
          joined.push_back(from[d]);
        }
        to.push_back(element_count(joined));
      } else if (const auto* extent = std::get_if<std::uint64_t>(&entry)) {
        to.push_back(*extent);
      } else {
        rest = to.size();
        to.push_back(1);
      }
    }
    const std::uint64_t count = element_count(from);
    if (rest) {
      const std::uint64_t others = element_count(to);
      if (others == 0 || count % others != 0)
        refuse(from, std::to_string(count) + " elements cannot be divided by " + std::to_string(others) +
                         " for the dimension of -1");
      to[*rest] = count / others;
    }
    if (element_count(to) != count)
      refuse(from, "it has " + std::to_string(count) + " elements, " + to_string(to) + " would have others");
    check_alignment(from, to);
    return to;
  }

  // An entry that names dimensions must run over just these: as many elements before it on both sides, and as
  // many after it.
  void check_alignment(const Shape& from, const Shape& to) const {
    const std::span<const std::uint64_t> all_from(from);
    const std::span<const std::uint64_t> all_to(to);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto* dimensions = std::get_if<std::vector<std::size_t>>(&entries_[i]);
      if (!dimensions || dimensions->empty()) continue;
      if (element_count(all_to.first(i)) != element_count(all_from.first(dimensions->front())) ||
          element_count(all_to.subspan(i + 1)) != element_count(all_from.subspan(dimensions->back() + 1)))
        refuse(from, "dimension " + std::to_string(i) + " of " + to_string(to) +
                         " does not run along the dimensions it names");
    }
  }

  std::vector<Entry> entries_;
};

}  // namespace

std::shared_ptr<Codec> make_reshape(const CodecSpec& spec, const CodecOptions& options) {
  Configuration configuration(spec, options);
  const Json* shape = configuration.find("shape");
  configuration.finish();
  if (!shape || !shape->is_array())
    configuration.fail("'shape' is missing or no list, expected e.g. [[0, 1], 3, -1]");
  std::vector<Entry> entries;
  bool rest = false;
  std::int64_t last_dimension = -1;
  for (const Json& entry : shape->as_array()) {
    if (entry.is_array()) {
      std::vector<std::size_t> dimensions;
      for (const Json& item : entry.as_array()) {
        const std::optional<std::int64_t> dimension = item.to_int64();
        if (!dimension || *dimension <= last_dimension)
          configuration.fail("'shape' is " + shape->dump() +
                             ": the dimensions it names must increase strictly");
        last_dimension = *dimension;
        dimensions.push_back(static_cast<std::size_t>(*dimension));
      }
      entries.emplace_back(std::move(dimensions));
      continue;
    }
    const std::optional<std::int64_t> extent = entry.to_int64();
    if (extent && *extent == -1 && !rest) {
      rest = true;
      entries.emplace_back(Rest{});
    } else if (extent && *extent > 0) {
      entries.emplace_back(static_cast<std::uint64_t>(*extent));
    } else {
      configuration.fail("'shape' has " + entry.dump() +
                         ", expected positive extents, lists of dimensions and at most one -1");
    }
  }
  return std::make_shared<ReshapeCodec>(std::move(entries));
}

}  // namespace zarrive
