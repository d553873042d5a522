// conditional: a chain of bytes-to-bytes codecs of which each chunk says in its header which were applied
// (bit i, little-endian: codec i).
//
// We apply codecs of fixed size (checksums) always, and others where they make the value smaller.
#include <algorithm>
#include <utility>
#include <vector>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

class Conditional final : public BytesToBytesCodec {
 public:
  using Codecs = std::vector<std::shared_ptr<const BytesToBytesCodec>>;
  Conditional(Codecs codecs, std::size_t header_size)
      : codecs_(std::move(codecs)), header_size_(header_size) {}

  std::shared_ptr<const BytesToBytesCodec> bind(const BytesSpec& decoded) const override {
    auto bound = std::make_shared<Conditional>(*this);
    BytesSpec spec = decoded;
    for (auto& codec : bound->codecs_) {
      codec = codec->bind(spec);
      spec.size.reset();  // whether the codec is applied is known for each chunk only
    }
    return bound;
  }

  // Without codecs there is nothing to leave out.
  CodecCapabilities capabilities() const noexcept override {
    CodecCapabilities result;
    result.fixed_size = codecs_.empty();
    return result;
  }
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    if (!codecs_.empty()) return std::nullopt;
    return zarrive::add(decoded_size, header_size_, "the size of a chunk with its header");
  }

  Buffer encode(std::span<const std::byte> decoded, const Context& context) const override {
    std::vector<std::byte> header(header_size_);
    Buffer held;
    std::span<const std::byte> value = decoded;
    for (std::size_t i = 0; i < codecs_.size(); ++i) {
      Buffer encoded = codecs_[i]->encode(value, context);
      if (!codecs_[i]->capabilities().fixed_size && encoded.size() >= value.size()) continue;
      header[i / 8] |= std::byte{1} << (i % 8);
      held = std::move(encoded);
      value = held.host_span();
    }
    Buffer result = bytes_to_bytes::output_buffer(header_size_ + value.size());
    std::copy(header.begin(), header.end(), result.mutable_data());
    std::copy(value.begin(), value.end(), result.mutable_data() + header_size_);
    return result;
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded,
              const Context& context) const override {
    if (encoded.size() < header_size_)
      corrupt("the value has " + std::to_string(encoded.size()) + " bytes, fewer than its header of " +
              std::to_string(header_size_));
    std::vector<std::size_t> applied;
    for (std::size_t i = 0; i < 8 * header_size_; ++i) {
      if ((encoded[i / 8] & std::byte{1} << (i % 8)) == std::byte{0}) continue;
      if (i >= codecs_.size())
        corrupt("the header says that codec " + std::to_string(i) + " was applied, there are " +
                std::to_string(codecs_.size()));
      applied.push_back(i);
    }
    const std::vector<Stage> stages = plan(applied, decoded);
    Buffer held;
    std::span<const std::byte> value = encoded.subspan(header_size_);
    for (std::size_t step = stages.size(); step-- != 0;) {
      const BytesToBytesCodec& codec = *codecs_[applied[step]];
      if (const auto view = codec.decode_view(value, context)) {
        value = *view;  // lies in `held` or in `encoded`, which both stay
        continue;
      }
      if (step == 0) return codec.decode(value, decoded, context);
      ByteOutput output(stages[step].size, stages[step].limit);
      codec.decode(value, output, context);
      held = output.take();
      value = held.host_span();
    }
    decoded.assign(value);
  }

 private:
  // What each applied codec decodes to.
  struct Stage {
    std::optional<std::uint64_t> size;
    std::uint64_t limit = 0;
  };
  std::vector<Stage> plan(const std::vector<std::size_t>& applied, const ByteOutput& decoded) const {
    std::vector<Stage> stages;
    Stage stage{decoded.expected_size(), decoded.limit()};
    for (const std::size_t i : applied) {
      stages.push_back(stage);
      if (stage.size) stage.size = codecs_[i]->encoded_size(*stage.size);
      // No codec makes a value much larger; Base64 is the worst with a third.
      constexpr std::uint64_t kSlack = 64 << 10;
      stage.limit = checked_add(stage.limit, stage.limit / 2 + kSlack).value_or(UINT64_MAX);
      if (stage.size) stage.limit = std::max(stage.limit, *stage.size);
    }
    return stages;
  }

  Codecs codecs_;
  std::size_t header_size_;
};

std::shared_ptr<Codec> make(Configuration& configuration, const CodecOptions& options) {
  const Json* list = configuration.find("codecs");
  if (list == nullptr || !list->is_array()) configuration.fail("'codecs' is missing or no list of codecs");
  Conditional::Codecs codecs;
  for (const Json& entry : list->as_array()) {
    auto codec = std::dynamic_pointer_cast<const BytesToBytesCodec>(
        CodecRegistry::global().make(configuration.codec(entry), options));
    if (!codec) configuration.fail("'codecs' holds " + entry.dump() + ", expected bytes-to-bytes codecs");
    codecs.push_back(std::move(codec));
  }
  constexpr std::size_t kMost = 1024;
  if (codecs.size() > kMost)
    configuration.fail("'codecs' has " + std::to_string(codecs.size()) + " entries, at most " +
                       std::to_string(kMost));
  const auto least = static_cast<std::int64_t>(ceil_divide(codecs.size(), 8) * 8);
  const std::int64_t bits =
      configuration.integer("header_bits", least, static_cast<std::int64_t>(codecs.size()), 8 * 65536);
  if (bits % 8 != 0)
    configuration.fail("'header_bits' is " + std::to_string(bits) + ", expected a multiple of 8");
  return std::make_shared<Conditional>(std::move(codecs), static_cast<std::size_t>(bits / 8));
}

}  // namespace

void add_conditional(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v3, "conditional", make);
}

}  // namespace zarrive
