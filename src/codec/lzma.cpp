// LZMA in its four forms, configured as Python's lzma module is: 0 auto (decoding only), 1 .xz, 2 .lzma, 3
// raw with a given filter chain.
#include <lzma.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <new>
#include <utility>
#include <vector>

#include "codec/byte_codecs.hpp"

namespace zarrive {
namespace {

using bytes_to_bytes::corrupt;

enum Form { kAuto = 0, kXz = 1, kAlone = 2, kRaw = 3 };

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// Decoders allocate the dictionary that the data asks for. Preset 9 asks for 64 MiB whatever the size of the
// data; a dictionary larger than the decoded data is of no use, so little more than the latter is given.
constexpr std::uint64_t kDecoderMemory = 128 * kMiB;
constexpr std::uint64_t kMostDecoderMemory = 2048 * kMiB;
constexpr std::uint64_t kMostEncoderMemory = 4096 * kMiB;

struct Stream : lzma_stream {
  Stream() : lzma_stream(LZMA_STREAM_INIT) {}
  ~Stream() { lzma_end(this); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

const char* reason(lzma_ret result) {
  switch (result) {
    case LZMA_FORMAT_ERROR: return "not of this format";
    case LZMA_OPTIONS_ERROR: return "it uses options that are not supported";
    case LZMA_DATA_ERROR: return "the data is damaged";
    case LZMA_BUF_ERROR: return "the data is cut off";
    default: return "an unexpected error";
  }
}

// A filter chain and the options of its filters.
class Filters {
 public:
  bool empty() const { return steps_.empty(); }
  void add(lzma_vli id, lzma_options_lzma options) { steps_.push_back({id, options, {}, {}}); }
  void add(lzma_vli id, lzma_options_delta options) { steps_.push_back({id, {}, options, {}}); }
  void add(lzma_vli id, lzma_options_bcj options) { steps_.push_back({id, {}, {}, options}); }

  // A dictionary larger than the data costs memory for nothing.
  void limit_dictionary(std::uint64_t size) {
    const std::uint64_t useful =
        std::max<std::uint64_t>(std::bit_ceil(std::min(size, kMiB * 2048)), LZMA_DICT_SIZE_MIN);
    for (Step& step : steps_)
      if (is_lzma(step.id))
        step.lzma.dict_size =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(step.lzma.dict_size, useful));
  }

  // Valid while this lives and is not changed.
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> array() {
    std::array<lzma_filter, LZMA_FILTERS_MAX + 1> result{};
    std::size_t count = 0;
    for (Step& step : steps_) {
      void* options = &step.bcj;
      if (is_lzma(step.id)) options = &step.lzma;
      if (step.id == LZMA_FILTER_DELTA) options = &step.delta;
      result.at(count++) = {step.id, options};
    }
    result.at(count) = {LZMA_VLI_UNKNOWN, nullptr};
    return result;
  }
  lzma_options_lzma* only_lzma1() {
    return steps_.size() == 1 && steps_.front().id == LZMA_FILTER_LZMA1 ? &steps_.front().lzma : nullptr;
  }

  static bool is_lzma(lzma_vli id) { return id == LZMA_FILTER_LZMA1 || id == LZMA_FILTER_LZMA2; }

 private:
  struct Step {
    lzma_vli id;
    lzma_options_lzma lzma;
    lzma_options_delta delta;
    lzma_options_bcj bcj;
  };
  std::vector<Step> steps_;
};

class Lzma final : public BytesToBytesCodec {
 public:
  // `filters`: as configured; for raw never empty. `encoder_filters`: what to encode with.
  Lzma(Form form, lzma_check check, Filters filters, Filters encoder_filters)
      : form_(form),
        check_(check),
        filters_(std::move(filters)),
        encoder_filters_(std::move(encoder_filters)) {}

  Buffer encode(std::span<const std::byte> decoded, const Context&) const override {
    Stream stream;
    Filters filters = encoder_filters_;
    filters.limit_dictionary(decoded.size());
    const auto chain = filters.array();
    const std::uint64_t memory = lzma_raw_encoder_memusage(chain.data());
    if (memory > kMostEncoderMemory)
      throw Error(ErrorCode::resource_limit,
                  "the lzma encoder would need " + std::to_string(memory) + " bytes, the limit is " +
                      std::to_string(kMostEncoderMemory) + "; use a smaller dict_size");
    lzma_ret result = LZMA_OK;
    switch (form_) {
      case kAuto:
        throw Error(ErrorCode::unsupported, "lzma format 0 (auto) is for reading only; write format 1 (.xz)");
      case kXz: result = lzma_stream_encoder(&stream, chain.data(), check_); break;
      case kAlone: result = lzma_alone_encoder(&stream, filters.only_lzma1()); break;
      case kRaw: result = lzma_raw_encoder(&stream, chain.data()); break;
    }
    require(result);
    ByteOutput buffer(std::nullopt, 2 * std::uint64_t{decoded.size()} + kMiB);
    bytes_to_bytes::StreamedOutput output(buffer, decoded.size() / 2 + 1024);
    result = run(stream, decoded, output);
    if (result != LZMA_STREAM_END) require(result == LZMA_OK ? LZMA_PROG_ERROR : result);
    output.finish();
    Buffer exact = bytes_to_bytes::output_buffer(buffer.bytes().size());
    std::memcpy(exact.mutable_data(), buffer.bytes().data(), exact.size());
    return exact;
  }

  void decode(std::span<const std::byte> encoded, ByteOutput& decoded, const Context&) const override {
    if (encoded.empty()) corrupt("the encoded value is empty, expected lzma data");
    const std::uint64_t size = std::min(decoded.expected_size().value_or(decoded.limit()), decoded.limit());
    const std::uint64_t memory = std::max(
        kDecoderMemory, std::min(size, kMostDecoderMemory - kDecoderMemory / 2) + kDecoderMemory / 2);
    Stream stream;
    Filters filters = filters_;
    switch (form_) {
      case kAuto: require(lzma_auto_decoder(&stream, memory, LZMA_CONCATENATED)); break;
      case kXz: require(lzma_stream_decoder(&stream, memory, LZMA_CONCATENATED)); break;
      case kAlone: require(lzma_alone_decoder(&stream, memory)); break;
      case kRaw: {
        const auto chain = filters.array();
        require_memory(lzma_raw_decoder_memusage(chain.data()), memory);
        require(lzma_raw_decoder(&stream, chain.data()));
        break;
      }
    }
    bytes_to_bytes::StreamedOutput output(decoded, 4 * std::uint64_t{encoded.size()});
    const lzma_ret result = run(stream, encoded, output);
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (result == LZMA_MEMLIMIT_ERROR) require_memory(lzma_memusage(&stream), memory);
    if (result != LZMA_STREAM_END)
      corrupt("lzma cannot go on after " + std::to_string(encoded.size() - stream.avail_in) + " of " +
              std::to_string(encoded.size()) + " encoded and " + std::to_string(output.size()) +
              " decoded bytes: " + reason(result));
    if (stream.avail_in != 0)
      corrupt(std::to_string(stream.avail_in) + " bytes follow after the end of the lzma data of " +
              std::to_string(encoded.size() - stream.avail_in) + " bytes");
    output.finish();
  }

 private:
  // All of `from` through the coder. LZMA_STREAM_END at its end, else the error.
  static lzma_ret run(Stream& stream, std::span<const std::byte> from,
                      bytes_to_bytes::StreamedOutput& output) {
    stream.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
    stream.avail_in = from.size();
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK) {
      const std::span<std::byte> room = output.room();
      stream.next_out = reinterpret_cast<std::uint8_t*>(room.data());
      stream.avail_out = room.size();
      result = lzma_code(&stream, LZMA_FINISH);
      output.written(room.size() - stream.avail_out);
    }
    return result;
  }

  static void require(lzma_ret result) {
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (result != LZMA_OK) throw Error(ErrorCode::internal, "liblzma gives error " + std::to_string(result));
  }
  static void require_memory(std::uint64_t needed, std::uint64_t allowed) {
    if (needed > allowed)
      throw Error(ErrorCode::resource_limit, "decoding the lzma data takes " + std::to_string(needed) +
                                                 " bytes of memory, the limit is " + std::to_string(allowed));
  }

  Form form_;
  lzma_check check_;
  Filters filters_;
  Filters encoder_filters_;
};

lzma_options_lzma preset_options(const Configuration& configuration, std::int64_t preset) {
  lzma_options_lzma options{};
  if (lzma_lzma_preset(&options, static_cast<std::uint32_t>(preset)))
    configuration.fail("'preset' is " + std::to_string(preset) +
                       ", expected 0 to 9, or that with the extreme flag 2147483648");
  return options;
}

lzma_options_lzma read_lzma_options(Configuration& filter) {
  lzma_options_lzma options =
      preset_options(filter, filter.integer("preset", LZMA_PRESET_DEFAULT, 0, UINT32_MAX));
  const auto read = [&filter](const char* member, std::uint32_t otherwise, std::int64_t low,
                              std::int64_t high) {
    return static_cast<std::uint32_t>(filter.integer(member, otherwise, low, high));
  };
  options.dict_size = read("dict_size", options.dict_size, LZMA_DICT_SIZE_MIN, UINT32_MAX);
  options.lc = read("lc", options.lc, LZMA_LCLP_MIN, LZMA_LCLP_MAX);
  options.lp = read("lp", options.lp, LZMA_LCLP_MIN, LZMA_LCLP_MAX);
  options.pb = read("pb", options.pb, LZMA_PB_MIN, LZMA_PB_MAX);
  options.mode = static_cast<lzma_mode>(read("mode", options.mode, LZMA_MODE_FAST, LZMA_MODE_NORMAL));
  options.nice_len = read("nice_len", options.nice_len, 2, 273);
  options.mf = static_cast<lzma_match_finder>(read("mf", options.mf, LZMA_MF_HC3, LZMA_MF_BT4));
  options.depth = read("depth", options.depth, 0, UINT32_MAX);
  if (!lzma_mf_is_supported(options.mf))
    filter.fail("'mf' is " + std::to_string(options.mf) + ", expected 3, 4, 18, 19 or 20");
  return options;
}

// One entry of "filters", as Python's lzma module has it.
void read_filter(const Json& entry, const std::string& codec, const CodecOptions& options, Filters& filters) {
  CodecSpec spec;
  spec.name = codec + " filter";
  if (entry.is_object()) spec.configuration = entry.as_object();
  Configuration filter(spec, options);
  const Json* id_value = filter.find("id");
  const std::optional<std::uint64_t> id = id_value != nullptr ? id_value->to_uint64() : std::nullopt;
  if (!id) filter.fail("expected an object with an integer 'id', found " + entry.dump());
  switch (*id) {
    case LZMA_FILTER_DELTA: {
      lzma_options_delta delta{};
      delta.type = LZMA_DELTA_TYPE_BYTE;
      delta.dist = static_cast<std::uint32_t>(
          filter.integer("dist", LZMA_DELTA_DIST_MIN, LZMA_DELTA_DIST_MIN, LZMA_DELTA_DIST_MAX));
      filters.add(*id, delta);
      break;
    }
    case LZMA_FILTER_LZMA1:
    case LZMA_FILTER_LZMA2: filters.add(*id, read_lzma_options(filter)); break;
    default: {
      const bool branch = *id >= LZMA_FILTER_X86 && *id <= LZMA_FILTER_SPARC;
      if (!branch || !lzma_filter_encoder_is_supported(*id) || !lzma_filter_decoder_is_supported(*id))
        filter.fail("'id' is " + std::to_string(*id) +
                    ", expected 3 (delta), 4 to 9 (branches), 33 (LZMA2) or 4611686018427387905 (LZMA1)");
      lzma_options_bcj bcj{};
      bcj.start_offset = static_cast<std::uint32_t>(filter.integer("start_offset", 0, 0, UINT32_MAX));
      filters.add(*id, bcj);
    }
  }
  filter.finish();
}

Filters read_filters(Configuration& configuration, const CodecOptions& options) {
  Filters filters;
  const Json* value = configuration.find("filters");
  if (value == nullptr || value->is_null()) return filters;
  if (!value->is_array() || value->as_array().empty() || value->as_array().size() > LZMA_FILTERS_MAX)
    configuration.fail("'filters' is " + value->dump() + ", expected null or a list of 1 to " +
                       std::to_string(LZMA_FILTERS_MAX) + " filters");
  for (const Json& entry : value->as_array()) read_filter(entry, "lzma", options, filters);
  return filters;
}

std::shared_ptr<Codec> make(Configuration& configuration, const CodecOptions& options) {
  const auto form = static_cast<Form>(configuration.integer("format", kXz, kAuto, kRaw));
  const std::int64_t check = configuration.integer("check", -1, -1, LZMA_CHECK_ID_MAX);
  const Json* preset = configuration.find("preset");
  const bool has_preset = preset != nullptr && !preset->is_null();
  const Filters filters = read_filters(configuration, options);

  if (check > 0 && form != kXz)
    configuration.fail("'check' is " + std::to_string(check) + ", which only format 1 (.xz) has");
  if (check >= 0 && !lzma_check_is_supported(static_cast<lzma_check>(check)))
    configuration.fail("'check' is " + std::to_string(check) +
                       ", expected -1 (default), 0 (none), 1 (CRC32), 4 (CRC64) or 10 (SHA-256)");
  if (has_preset && !filters.empty()) configuration.fail("'preset' and 'filters' exclude each other");
  if (form == kRaw && filters.empty()) configuration.fail("format 3 (raw) needs 'filters'");

  Filters encoder_filters = filters;
  if (encoder_filters.empty()) {
    const std::int64_t level =
        has_preset ? configuration.integer("preset", 0, 0, UINT32_MAX) : LZMA_PRESET_DEFAULT;
    encoder_filters.add(form == kAlone ? LZMA_FILTER_LZMA1 : LZMA_FILTER_LZMA2,
                        preset_options(configuration, level));
  }
  // liblzma alone knows which chains go together.
  const auto chain = encoder_filters.array();
  if (lzma_raw_encoder_memusage(chain.data()) == UINT64_MAX ||
      lzma_raw_decoder_memusage(chain.data()) == UINT64_MAX)
    configuration.fail("'filters' is no valid chain of filters");
  if (form == kAlone && encoder_filters.only_lzma1() == nullptr)
    configuration.fail("format 2 (.lzma) takes one LZMA1 filter");
  for (const lzma_filter& filter : chain) {
    if (filter.id == LZMA_VLI_UNKNOWN) break;
    if (form == kXz && filter.id == LZMA_FILTER_LZMA1)
      configuration.fail("format 1 (.xz) cannot hold an LZMA1 filter");
  }
  return std::make_shared<Lzma>(form, check < 0 ? LZMA_CHECK_CRC64 : static_cast<lzma_check>(check), filters,
                                encoder_filters);
}

// imagecodecs' plain .xz stream; its level is a preset.
std::shared_ptr<Codec> make_imagecodecs(Configuration& configuration, const CodecOptions&) {
  Filters filters;
  filters.add(LZMA_FILTER_LZMA2,
              preset_options(configuration, configuration.integer("level", LZMA_PRESET_DEFAULT, 0, 9)));
  for (const char* member : {"check", "header", "out"}) configuration.ignore(member);
  return std::make_shared<Lzma>(kXz, LZMA_CHECK_CRC64, Filters(), filters);
}

}  // namespace

void add_lzma(CodecRegistry& registry) {
  bytes_to_bytes::add(registry, ZarrFormat::v2, "lzma", make);
  bytes_to_bytes::add(registry, ZarrFormat::v2, "imagecodecs_lzma", make_imagecodecs);
  registry.add_v2_alias("numcodecs.lzma", "lzma");
}

}  // namespace zarrive
