// A codec whose parameters differ from chunk to chunk, supplied by the store through the context.
//
// FITS files that were compressed by tiles keep a scale and a zero for each tile: value = zero + scale * raw. No Zarr metadata can say that, for
// there is one codec configuration for the whole array. Here a store knows the two numbers of each key (from a table; a real one would read them from
// the FITS headers) and adds them to the context of every request. The codec takes them from there, on reading and on writing.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "zarrive/zarrive.hpp"

namespace {

struct Scaling {
  double scale = 1;
  double zero = 0;
};

// A store before another one that knows the scaling of each key.
class FitsStore final : public zarrive::StoreWrapper {
 public:
  FitsStore(std::shared_ptr<zarrive::Store> base, std::map<std::string, Scaling> table)
      : StoreWrapper(std::move(base)), table_(std::move(table)) {}

  zarrive::StoreCapabilities capabilities() const override {
    zarrive::StoreCapabilities result = StoreWrapper::capabilities();
    result.annotates = true;
    return result;
  }

  void annotate(zarrive::Context& context) override {
    StoreWrapper::annotate(context);
    if (!context.key) return;
    const auto found = table_.find(*context.key);
    if (found == table_.end()) return;
    context.codec_parameters =
        zarrive::JsonObject{{"bscale", found->second.scale}, {"bzero", found->second.zero}};
  }

 private:
  std::map<std::string, Scaling> table_;
};

// float64 in the array, int16 in the chunk.
class FitsScale final : public zarrive::ArrayToArrayCodec {
 public:
  zarrive::CodecCapabilities capabilities() const noexcept override { return {.fixed_size = true}; }

  zarrive::ArraySpec encoded_spec(const zarrive::ArraySpec& decoded) const override {
    const zarrive::DataType int16(zarrive::TypeId::int16);
    // What a fill value would be stored as depends on the chunk, so there is none.
    return {int16, decoded.shape, zarrive::FillValue::undefined(int16)};
  }

  void encode(const zarrive::ArrayView& decoded, const zarrive::ArrayView& encoded,
              const zarrive::Context& context) const override {
    const Scaling scaling = scaling_of(context);
    for (std::uint64_t i = 0; i < decoded.size(); ++i) {
      double value;
      std::memcpy(&value, decoded.data + 8 * i, 8);
      const auto raw = static_cast<std::int16_t>(std::lround((value - scaling.zero) / scaling.scale));
      std::memcpy(encoded.data + 2 * i, &raw, 2);
    }
  }

  void decode(const zarrive::ArrayView& encoded, const zarrive::ArrayView& decoded,
              const zarrive::Context& context) const override {
    const Scaling scaling = scaling_of(context);
    for (std::uint64_t i = 0; i < decoded.size(); ++i) {
      std::int16_t raw;
      std::memcpy(&raw, encoded.data + 2 * i, 2);
      const double value = scaling.zero + scaling.scale * raw;
      std::memcpy(decoded.data + 8 * i, &value, 8);
    }
  }

 private:
  static Scaling scaling_of(const zarrive::Context& context) {
    const zarrive::Json* scale = context.codec_parameters.find("bscale");
    const zarrive::Json* zero = context.codec_parameters.find("bzero");
    if (!scale || !zero)
      throw zarrive::Error(
          zarrive::ErrorCode::invalid_argument,
          "fits_scale: the context of this chunk has no bscale and bzero; read through a FitsStore");
    return {scale->as_double(), zero->as_double()};
  }
};

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

}  // namespace

int main() {
  zarrive::register_codec<FitsScale>("fits_scale");

  const auto memory = std::make_shared<zarrive::MemoryStore>();
  const auto store = std::make_shared<FitsStore>(
      memory, std::map<std::string, Scaling>{{"sky/c/0", {0.5, 100}}, {"sky/c/1", {2, -1000}}});

  zarrive::CodecSpec fits_scale;
  fits_scale.name = "fits_scale";
  zarrive::Array sky =
      zarrive::create_array(store, "sky",
                            {.shape = {6},
                             .data_type = "float64",
                             .chunks = {3},
                             .codecs = {fits_scale, zarrive::codecs::bytes(zarrive::ByteOrder::big)}});

  // The tiles as they stand in the file: big-endian 16-bit numbers, the same in both.
  const std::string tile("\x00\x01\x00\x02\xFF\xFF", 6);
  sky.write_encoded_chunk(zarrive::Index{0}, zarrive::Buffer::from_string(tile));
  sky.write_encoded_chunk(zarrive::Index{1}, zarrive::Buffer::from_string(tile));

  const auto values = sky.read<double>();
  const double wanted[] = {100.5, 101, 99.5, -998, -996, -1002};
  for (std::size_t i = 0; i < 6; ++i) {
    std::printf("%g ", values[i]);
    check(values[i] == wanted[i], "a value that was read");
  }
  std::printf("\n");

  // Writing goes the same way: each chunk with the scaling of its own key.
  sky.write<double>({zarrive::slice(2, 5)}, std::vector<double>{90, -1010, -1020});
  check(sky.read_encoded_chunk(zarrive::Index{0})->text() == std::string("\x00\x01\x00\x02\xFF\xEC", 6),
        "the first tile after writing");
  check(sky.read_encoded_chunk(zarrive::Index{1})->text() == std::string("\xFF\xFB\xFF\xF6\xFF\xFF", 6),
        "the second tile after writing");

  // Without the store that knows the numbers, the codec says what is missing.
  bool refused = false;
  try {
    zarrive::open_array(memory, "sky").read();
  } catch (const zarrive::Error& error) {
    refused = true;
    std::printf("%s\n", error.what());
  }
  check(refused, "reading without parameters was not refused");
  return 0;
}
