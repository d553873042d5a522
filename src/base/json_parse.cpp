// Json::parse: RapidJSON's tokeniser drives a builder of Json values.
//
// The tokeniser checks UTF-8, keeps its own stack on the heap (hostile nesting costs no machine stack) and hands numbers over
// as text. Four of its habits are corrected here: it takes "Inf" and "-NaN", which nobody else writes; it turns the escape of a
// lone low surrogate into bytes that are not UTF-8; it ends a document quietly at a NUL byte; and it refuses numbers beyond
// double even as text, for which see mask_numbers.
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/json_number.hpp"
#include "zarrive/error.hpp"
#include "zarrive/json.hpp"

namespace zarrive {
namespace {

// Values are destroyed, compared and written by recursion; this bounds it whatever the caller asks for.
constexpr std::size_t deepest = 2000;

// Whether otherwise valid UTF-8 encodes a code point from U+D800 to U+DFFF (ED A0 80 to ED BF BF).
bool has_surrogate(std::string_view text) {
  for (std::size_t at = text.find('\xed'); at != std::string_view::npos; at = text.find('\xed', at + 1))
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) return true;
  return false;
}

class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  Builder(std::string_view text, const rapidjson::MemoryStream& stream, const JsonParseOptions& options)
      : text_(text), stream_(stream), options_(options) {}

  Json take() { return std::move(root_); }

  // Why the last event returned false.
  ErrorCode code = ErrorCode::invalid_metadata;
  std::string reason;

  bool Null() { return put(Json()); }
  bool Bool(bool value) { return put(Json(value)); }
  bool String(const char* data, rapidjson::SizeType size, bool) {
    if (has_surrogate({data, size})) return fail("a lone low surrogate in a string");
    return put(Json(std::string(data, size)));
  }

  bool RawNumber(const char*, rapidjson::SizeType size, bool) {
    // The reader may have been given a masked copy: the text comes from the original, which ends at the same place.
    const std::string_view number = text_.substr(stream_.Tell() - size, size);
    const char last = number.back();
    if (last < '0' || last > '9') {
      if (!detail::is_number_text(number)) return fail("'" + std::string(number) + "' is not a JSON value");
      if (!options_.allow_nan) return fail("a bare " + std::string(number) + " is not JSON");
    }
    return put(Json(JsonNumber{std::string(number)}));
  }

  bool StartObject() { return open(true); }
  bool StartArray() { return open(false); }

  bool Key(const char* data, rapidjson::SizeType size, bool) {
    Frame& frame = frames_.back();
    const std::string_view name(data, size);
    if (has_surrogate(name)) return fail("a lone low surrogate in a name");
    const std::size_t before = frame.object.size();
    frame.slot = &frame.object.set(name, Json());
    if (options_.reject_duplicate_names && frame.object.size() == before)
      return fail("the name \"" + std::string(name.substr(0, 80)) + "\" occurs twice in one object");
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    JsonObject object = std::move(frames_.back().object);
    frames_.pop_back();
    return put(Json(std::move(object)));
  }

  bool EndArray(rapidjson::SizeType) {
    // Built at its final size: large documents are bound by the memory they touch.
    const auto first = items_.begin() + static_cast<std::ptrdiff_t>(frames_.back().first_item);
    JsonArray array(std::make_move_iterator(first), std::make_move_iterator(items_.end()));
    items_.erase(first, items_.end());
    frames_.pop_back();
    return put(Json(std::move(array)));
  }

 private:
  struct Frame {
    bool is_object = false;
    std::size_t first_item = 0;  // of an array, in items_
    JsonObject object;
    Json* slot = nullptr;  // where the value of the last name goes
  };

  bool open(bool is_object) {
    const std::size_t limit = std::min(options_.max_depth, deepest);
    if (frames_.size() >= limit) {
      code = ErrorCode::resource_limit;
      return fail("nested deeper than " + std::to_string(limit) + " levels");
    }
    Frame& frame = frames_.emplace_back();
    frame.is_object = is_object;
    frame.first_item = items_.size();
    return true;
  }

  bool put(Json value) {
    if (frames_.empty()) root_ = std::move(value);
    else if (frames_.back().is_object) *frames_.back().slot = std::move(value);
    else items_.push_back(std::move(value));
    return true;
  }

  bool fail(std::string why) {
    reason = std::move(why);
    return false;
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  const JsonParseOptions& options_;
  std::vector<Frame> frames_;
  JsonArray items_;  // of all open arrays, one after the other
  Json root_;
};

// "line 3, column 7", counted from 1, columns in characters.
std::string place(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::string_view head = before.substr(start);
  const auto column = 1 + std::count_if(head.begin(), head.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// A copy of the document in which every number outside strings is one of the same length that the tokeniser accepts: 1e400
// becomes 0.000. Positions do not change, so the builder finds the true text.
std::string mask_numbers(std::string_view text) {
  std::string masked(text);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      ++at;
      continue;
    }
    const std::size_t length = detail::number_length(text.substr(at));
    if (length > 4) {  // shorter ones are within range
      std::fill_n(masked.begin() + static_cast<std::ptrdiff_t>(at), length, '0');
      const std::size_t first = text[at] == '-' ? at + 1 : at;
      if (first != at) masked[at] = '-';
      masked[first + 1] = '.';
    }
    at += std::max<std::size_t>(length, 1);
  }
  return masked;
}

template <unsigned flags>
rapidjson::ParseResult read(std::string_view input, std::string_view original,
                            const JsonParseOptions& options, Json& result, ErrorCode& code,
                            std::string& reason) {
  rapidjson::MemoryStream stream(input.data(), input.size());
  Builder builder(original, stream, options);
  rapidjson::Reader reader;
  rapidjson::ParseResult outcome = reader.Parse<flags>(stream, builder);
  code = builder.code;
  if (outcome.Code() == rapidjson::kParseErrorTermination) {
    reason = std::move(builder.reason);
  } else if (outcome.IsError()) {
    reason = rapidjson::GetParseError_En(outcome.Code());
  } else if (stream.Tell() != input.size()) {
    outcome.Set(rapidjson::kParseErrorDocumentRootNotSingular, stream.Tell());
    reason = "a NUL byte after the document";
  }
  result = builder.take();
  return outcome;
}

}  // namespace

Json Json::parse(std::string_view text, const JsonParseOptions& options) {
  if (text.size() >= std::numeric_limits<rapidjson::SizeType>::max())
    throw Error(ErrorCode::resource_limit,
                "a JSON document of " + std::to_string(text.size()) + " bytes; at most 4 GiB are read");
  constexpr unsigned strict = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  constexpr unsigned lenient = strict | rapidjson::kParseTrailingCommasFlag;
  Json result;
  ErrorCode code{};
  std::string reason;
  const auto attempt = [&](std::string_view input) {
    return options.allow_trailing_commas ? read<lenient>(input, text, options, result, code, reason)
                                         : read<strict>(input, text, options, result, code, reason);
  };
  rapidjson::ParseResult outcome = attempt(text);
  if (outcome.Code() == rapidjson::kParseErrorNumberTooBig) {
    const std::string masked = mask_numbers(text);
    outcome = attempt(masked);
  }
  if (outcome.IsError()) throw Error(code, "JSON, " + place(text, outcome.Offset()) + ": " + reason);
  return result;
}

}  // namespace zarrive
