#include "support/type_names.hpp"

namespace zarrive::testing_support {

const std::vector<std::string>& exchanged_type_names() {
  static const std::vector<std::string> names = {"bool",
                                                 "int8",
                                                 "int16",
                                                 "int32",
                                                 "int64",
                                                 "uint8",
                                                 "uint16",
                                                 "uint32",
                                                 "uint64",
                                                 "float16",
                                                 "float32",
                                                 "float64",
                                                 ">i2",
                                                 ">i8",
                                                 ">f4",
                                                 ">f8",
                                                 "complex64",
                                                 "complex128",
                                                 "|V3",
                                                 "|S5",
                                                 "<U4",
                                                 "datetime64[ms]",
                                                 "timedelta64[s]",
                                                 "string",
                                                 "bytes",
                                                 "|O",
                                                 "bfloat16",
                                                 "float8_e4m3",
                                                 "int4",
                                                 "optional[float32]",
                                                 R"([["a", "<i2"], ["b", "<f8"], ["c", "|S3"]])"};
  return names;
}

}  // namespace zarrive::testing_support
