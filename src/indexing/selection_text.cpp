#include "indexing/selection_text.hpp"

#include <charconv>

#include "zarrive/error.hpp"

namespace zarrive {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<SelectionItem> parse() {
    std::vector<SelectionItem> items;
    skip_spaces();
    while (at_ < text_.size()) {
      items.push_back(item());
      skip_spaces();
      if (at_ == text_.size()) break;
      if (text_[at_] != ',') fail("expected ',' or the end");
      ++at_;
      skip_spaces();
    }
    return items;
  }

 private:
  SelectionItem item() {
    if (text_.substr(at_, 3) == "...") {
      at_ += 3;
      return Ellipsis{};
    }
    if (text_[at_] == '[') return list();
    std::optional<std::int64_t> parts[3];
    parts[0] = integer();
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != ':') {
      if (!parts[0]) fail("expected an integer, a slice such as 1:10:2, a list such as [3, 1], or '...'");
      return *parts[0];
    }
    for (int part = 1; part < 3 && at_ < text_.size() && text_[at_] == ':'; ++part) {
      ++at_;
      skip_spaces();
      parts[part] = integer();
      skip_spaces();
    }
    return Slice{parts[0], parts[1], parts[2]};
  }

  IntegerArray list() {
    std::vector<std::int64_t> positions;
    ++at_;  // '['
    for (skip_spaces(); !take(']'); skip_spaces()) {
      const auto position = integer();
      if (!position) fail("expected an integer or ']'");
      positions.push_back(*position);
      skip_spaces();
      if (!take(',') && (at_ == text_.size() || text_[at_] != ']')) fail("expected ',' or ']'");
    }
    return positions;
  }

  std::optional<std::int64_t> integer() {
    std::int64_t value = 0;
    auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range) fail("the integer does not fit 64 bits");
    if (status != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument,
                "selection '" + std::string(text_) + "', character " + std::to_string(at_ + 1) + ": " + why);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::size_t kMostShown = 16;

std::string text_of(std::int64_t position) { return std::to_string(position); }
std::string text_of(Ellipsis) { return "..."; }

std::string text_of(const Slice& slice) {
  std::string text;
  if (slice.start) text += std::to_string(*slice.start);
  text += ':';
  if (slice.stop) text += std::to_string(*slice.stop);
  if (slice.step) text += ':' + std::to_string(*slice.step);
  return text;
}

std::string text_of(const IntegerArray& list) {
  if (list.shape().empty()) return std::to_string(list.positions()[0]);
  std::string text = "[";
  const std::size_t shown = list.size() > kMostShown ? kMostShown / 2 : list.size();
  for (std::size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + std::to_string(list.positions()[i]);
  if (shown < list.size()) text += ", ... " + std::to_string(list.size()) + " in all";
  text += ']';
  if (list.shape().size() > 1) text += " of shape " + zarrive::to_string(list.shape());
  return text;
}

std::string text_of(const BooleanArray& flags) {
  return "flags(" + std::to_string(flags.positions().size()) + " set of " +
         zarrive::to_string(flags.shape()) + ')';
}

}  // namespace

std::vector<SelectionItem> parse_selection(std::string_view text) { return Parser(text).parse(); }

std::string selection_text(const std::vector<SelectionItem>& items) {
  std::string text;
  for (const SelectionItem& item : items) {
    if (!text.empty()) text += ", ";
    text += std::visit([](const auto& value) { return text_of(value); }, item);
  }
  return text;
}

}  // namespace zarrive
