#include "cli/npy.hpp"

#include <cstdint>
#include <istream>

#include "cli/text.hpp"
#include "zarrive/error.hpp"
#include "zarrive/json.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive::cli {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header =
    1 << 20;  // NumPy itself refuses to parse more than 10,000 characters by default
constexpr int max_depth = 32;

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorCode::invalid_metadata, "this is no .npy file: " + what);
}

// A Python literal of strings, integers, True, False, None, tuples, lists and dicts, as JSON (tuples and lists are arrays).
class PythonLiteral {
 public:
  explicit PythonLiteral(std::string_view text) : rest_(text) {}

  Json whole() {
    Json value = parse(0);
    skip_space();
    if (!rest_.empty()) fail("more text after it");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    bad("its header is not understood at \"" + printable(rest_.substr(0, 20)) + "\": " + what);
  }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  Json parse(int depth) {
    if (depth > max_depth) fail("nested too deep");
    if (take("{")) return dict(depth);
    if (take("(")) return sequence(")", depth);
    if (take("[")) return sequence("]", depth);
    if (take("True")) return true;
    if (take("False")) return false;
    if (take("None")) return nullptr;
    if (take("'")) return text('\'');
    if (take("\"")) return text('"');
    return integer();
  }

  Json dict(int depth) {
    JsonObject object;
    while (!take("}")) {
      const Json key = parse(depth + 1);
      if (!key.is_string() || object.contains(key.as_string())) fail("a dict's keys are strings, each once");
      if (!take(":")) fail("\":\" expected");
      object.set(key.as_string(), parse(depth + 1));
      if (!take(",") && !rest_.starts_with("}")) fail("\",\" or \"}\" expected");
    }
    return object;
  }

  Json sequence(std::string_view close, int depth) {
    JsonArray array;
    while (!take(close)) {
      array.push_back(parse(depth + 1));
      if (!take(",") && !rest_.starts_with(close)) fail("\",\" or \"" + std::string(close) + "\" expected");
    }
    return array;
  }

  Json text(char quote) {
    std::string value;
    while (!rest_.empty() && rest_[0] != quote) {
      if (rest_[0] == '\\') {
        rest_.remove_prefix(1);
        if (rest_.empty() || (rest_[0] != '\\' && rest_[0] != '\'' && rest_[0] != '"'))
          fail("unknown escape in a string");
      }
      value += rest_[0];
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) fail("a string without end");
    rest_.remove_prefix(1);
    return value;
  }

  Json integer() {
    std::size_t length = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') ++length;
    if (length == 0 || length > 20) fail("a literal expected");
    const std::string digits(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // written by Python 2
    return JsonNumber{digits};
  }

  std::string_view rest_;
};

// NumPy's field list in the form of a v2 dtype: titles are left out.
Json descr_to_v2(const Json& descr) {
  if (!descr.is_array()) return descr;
  JsonArray fields;
  for (const Json& field : descr.as_array()) {
    if (!field.is_array() || field.as_array().size() < 2 || field.as_array().size() > 3)
      bad("a field of its dtype is not (name, type)");
    JsonArray parts = field.as_array();
    if (parts[0].is_array() && parts[0].as_array().size() == 2) parts[0] = Json(parts[0].as_array()[1]);
    parts[1] = descr_to_v2(parts[1]);
    fields.emplace_back(std::move(parts));
  }
  return fields;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// A v2 dtype as Python writes NumPy's descr: fields are tuples.
std::string python_descr(const Json& v2) {
  if (v2.is_string()) return quoted(v2.as_string());
  std::string result = "[";
  for (const Json& field : v2.as_array()) {
    const JsonArray& parts = field.as_array();
    if (result.size() > 1) result += ", ";
    result += "(" + quoted(parts[0].as_string()) + ", " + python_descr(parts[1]);
    if (parts.size() > 2) {
      Shape shape;
      for (const Json& extent : parts[2].as_array()) shape.push_back(extent.to_uint64().value());
      result += ", " + shape_text(shape);
    }
    result += ")";
  }
  return result + "]";
}

Shape shape_of(const Json& value) {
  if (!value.is_array() || value.as_array().size() > max_dimensions)
    bad("its shape is no tuple of at most 64 lengths");
  Shape shape;
  for (const Json& extent : value.as_array()) {
    const auto number = extent.to_uint64();
    if (!number || *number > max_extent) bad("its shape holds " + extent.dump());
    shape.push_back(*number);
  }
  return shape;
}

}  // namespace

std::string npy_header(const DataType& type, const Shape& shape) {
  Json descr;
  try {
    if (type.is_variable()) throw Error(ErrorCode::unsupported, "");
    descr = type.with_byte_order(ByteOrder::little).to_v2();
  } catch (const Error&) {
    throw Error(ErrorCode::unsupported,
                "NumPy files have no " + type.name() +
                    (type.is_variable() ? "; use --json" : "; use --raw, --json, or --as with another type"));
  }
  const std::string text =
      "{'descr': " + python_descr(descr) + ", 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  // Field names outside of ASCII need version 3 (UTF-8), long headers version 2; both have a length of four bytes.
  bool ascii = true;
  for (const char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  const std::size_t length_size = ascii && text.size() + 64 < 65536 ? 2 : 4;
  const std::size_t prefix = magic.size() + 2 + length_size;
  const std::size_t total = (prefix + text.size() + 1 + 63) / 64 * 64;
  std::string header(magic);
  header += static_cast<char>(length_size == 2 ? 1 : ascii ? 2 : 3);
  header += '\0';
  std::size_t length = total - prefix;
  for (std::size_t i = 0; i < length_size; ++i, length >>= 8) header += static_cast<char>(length & 0xff);
  header += text;
  header.resize(total - 1, ' ');
  return header + '\n';
}

NpyHeader parse_npy_header(std::string_view text) {
  const Json header = PythonLiteral(text).whole();
  const Json* const descr = header.find("descr");
  const Json* const fortran_order = header.find("fortran_order");
  const Json* const shape = header.find("shape");
  if (!descr || !fortran_order || !shape || header.as_object().size() != 3)
    bad("its header is not {'descr', 'fortran_order', 'shape'}");
  if (!fortran_order->is_bool()) bad("fortran_order is neither True nor False");
  if (descr->is_string() && descr->as_string().find('O') != std::string::npos)
    throw Error(ErrorCode::unsupported, "it holds pickled Python objects, which run code when they are read");
  NpyHeader result;
  result.type = DataType::from_v2(descr_to_v2(*descr));
  result.fortran_order = fortran_order->as_bool();
  result.shape = shape_of(*shape);
  byte_count(result.shape, result.type.item_size());  // is refused when it does not fit in memory addresses
  return result;
}

NpyHeader read_npy_header(std::istream& in, const std::string& name) {
  try {
    std::string start(8, '\0');
    in.read(start.data(), 8);
    if (in.gcount() != 8 || !start.starts_with(magic))
      bad("it does not begin with \\x93NUMPY; say --raw for plain bytes");
    const int version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3 || start[7] != 0)
      bad("version " + std::to_string(version) + " is not known");
    unsigned char bytes[4] = {};
    in.read(reinterpret_cast<char*>(bytes), version == 1 ? 2 : 4);
    const std::size_t length =
        bytes[0] | bytes[1] << 8 | std::size_t{bytes[2]} << 16 | std::size_t{bytes[3]} << 24;
    if (!in || length > max_header)
      bad("its header is " + std::to_string(length) + " bytes long, or ends early");
    std::string text(length, '\0');
    in.read(text.data(), static_cast<std::streamsize>(length));
    if (static_cast<std::size_t>(in.gcount()) != length) bad("it ends within its header");
    return parse_npy_header(text);
  } catch (const Error& error) {
    throw error.with({.store = name});
  }
}

}  // namespace zarrive::cli
