// The document that json2 and msgpack2 share: one list of the elements (nested as the array is), then the dtype as a text, then the
// shape. A 0-d array has its value in the first place. The older ids json and msgpack leave the shape out. In memory the values are Json.
#pragma once

#include "zarrive/codec.hpp"

namespace zarrive {

// Types whose elements have a JSON form that NumPy gives and takes: bool, numbers, text, objects.
bool has_json_elements(const DataType& type) noexcept;

// Error(invalid_argument) for an object element that is no JSON text.
Json to_json_list(const Codec& codec, const ArrayView& decoded, bool with_shape);

// Error(corrupt_chunk) unless the list has as many elements as the view. With a shape in the list, their nesting may be another than
// the view's: elements are taken in C order. Without one it is the view's.
void from_json_list(const Codec& codec, const Json& list, const ArrayView& decoded, bool with_shape);

}  // namespace zarrive
