// The matrix data type x codec x format that the exchange program writes and reads: one small array a cell.
#pragma once

#include <string>
#include <vector>

#include "zarrive/array.hpp"

namespace zarrive::exchange {

struct CodecCase {
  std::string name = {};  // column of the table
  ZarrFormat format = ZarrFormat::v3;
  std::vector<CodecSpec> codecs = {};        // v3: the chain (a serialiser is put in). v2: filters
  std::optional<CodecSpec> compressor = {};  // v2
  char order = 'C';
  bool lossless = true;
};

// The codecs, with parameters for this type where they need some.
std::vector<CodecCase> codec_cases(const DataType& type, ZarrFormat format);

// The array of a cell: 7 x 5 elements in chunks of 4 x 5. Throws Error when the cell is not possible.
CreateOptions cell_options(const DataType& type, const CodecCase& codec);
// Its elements, the same in every run.
NDArray cell_values(const DataType& type, const Shape& shape);

}  // namespace zarrive::exchange
