// Json::parse: any bytes end in a value or in an Error, and a value that was read is written and read back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "zarrive/error.hpp"
#include "zarrive/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the options, the rest is the document.
  zarrive::JsonParseOptions options;
  options.allow_nan = data[0] & 1;
  options.reject_duplicate_names = data[0] & 2;
  options.allow_trailing_commas = data[0] & 4;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  zarrive::Json value;
  try {
    value = zarrive::Json::parse(text, options);
  } catch (const zarrive::Error&) {
    return 0;
  }
  for (const int indent : {-1, 0, 2}) {
    for (const bool sort : {false, true}) {
      zarrive::JsonDumpOptions dump;
      dump.indent = indent;
      dump.sort_keys = sort;
      dump.ensure_ascii = data[0] & 8;
      dump.spaces = data[0] & 16;
      options.allow_trailing_commas = false;
      if (!(zarrive::Json::parse(value.dump(dump), options) == value)) std::abort();
    }
  }
  return 0;
}
