// NumPy's .npy files: the header, written (version 1.0 or 2.0) and read (1.0 to 3.0).
// Source: numpy/lib/format.py, "Format Version 1.0" and following.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "zarrive/data_type.hpp"

namespace zarrive::cli {

struct NpyHeader {
  DataType type = {};
  bool fortran_order = false;
  Shape shape = {};
};

// The header for C-order data that follows it, little-endian. Error(unsupported) for types that NumPy has no name for.
std::string npy_header(const DataType& type, const Shape& shape);

// Reads the header and leaves the stream at the data. Error(invalid_metadata) for anything else; `name` is for the message.
// Pickled objects are Error(unsupported).
NpyHeader read_npy_header(std::istream& in, const std::string& name);

// The text between magic and data, e.g. "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".
NpyHeader parse_npy_header(std::string_view text);

}  // namespace zarrive::cli
