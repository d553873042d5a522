// The built-in codecs, one function a file of codecs; CodecRegistry::global() calls the two lists below.
#pragma once

#include "zarrive/codec.hpp"

namespace zarrive {

void add_builtin_array_codecs(
    CodecRegistry& registry);  // array-to-array and array-to-bytes: builtin_array.cpp
void add_builtin_byte_codecs(CodecRegistry& registry);  // bytes-to-bytes: builtin_bytes.cpp

}  // namespace zarrive
