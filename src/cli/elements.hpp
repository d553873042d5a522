// Elements as text: JSON, exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "zarrive/data_type.hpp"
#include "zarrive/memory.hpp"

namespace zarrive::cli {

// Appends one element in fill-value JSON form, on one line.
void append_json(std::string& text, const DataType& type, const std::byte* element);

// The elements of a dense array in C order as text, made in parallel in pieces and handed over in order: append(text, index, element) for each
// element, then emit(text) for each piece.
void format_elements(
    const ArrayView& dense, std::size_t jobs,
    const std::function<void(std::string& text, std::uint64_t index, const std::byte* element)>& append,
    const std::function<void(const std::string& text)>& emit);

}  // namespace zarrive::cli
