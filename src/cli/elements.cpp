#include "cli/elements.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "zarrive/executor.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive::cli {

namespace {

template <class T>
void append_number(std::string& text, const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

}  // namespace

void append_json(std::string& text, const DataType& type, const std::byte* element) {
  switch (type.id()) {
    case TypeId::int8: return append_number<std::int8_t>(text, element);
    case TypeId::int16: return append_number<std::int16_t>(text, element);
    case TypeId::int32: return append_number<std::int32_t>(text, element);
    case TypeId::int64: return append_number<std::int64_t>(text, element);
    case TypeId::uint8: return append_number<std::uint8_t>(text, element);
    case TypeId::uint16: return append_number<std::uint16_t>(text, element);
    case TypeId::uint32: return append_number<std::uint32_t>(text, element);
    case TypeId::uint64: return append_number<std::uint64_t>(text, element);
    default: text += element_to_json(type, element).dump();
  }
}

void format_elements(const ArrayView& dense, std::size_t jobs,
                     const std::function<void(std::string&, std::uint64_t, const std::byte*)>& append,
                     const std::function<void(const std::string&)>& emit) {
  constexpr std::uint64_t piece = 1 << 14;  // elements: some 200 KB of text, enough to be worth a task
  const std::uint64_t count = dense.size();
  const std::size_t item_size = dense.type.item_size();
  const std::size_t pieces_at_once = Executor::global().compute_threads() * 4;
  std::vector<std::string> texts(pieces_at_once);
  for (std::uint64_t start = 0; start < count; start += piece * pieces_at_once) {
    const auto pieces =
        static_cast<std::size_t>(std::min<std::uint64_t>(pieces_at_once, ceil_divide(count - start, piece)));
    Executor::global().parallel_for(pieces,
                                    [&](std::size_t i) {
                                      texts[i].clear();
                                      const std::uint64_t begin = start + i * piece;
                                      const std::uint64_t end = std::min(count, begin + piece);
                                      for (std::uint64_t at = begin; at < end; ++at)
                                        append(texts[i], at, dense.data + at * item_size);
                                    },
                                    {.max_concurrency = jobs, .stop = {}});
    for (std::size_t i = 0; i < pieces; ++i) emit(texts[i]);
  }
}

}  // namespace zarrive::cli
