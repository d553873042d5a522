// The data types that tests go through.
#pragma once

#include <string>
#include <vector>

namespace zarrive::testing_support {

// One of each kind at least, by the name that DataType::parse takes: what is exchanged with other implementations. (Random arrays are of more:
// random_array.hpp.)
const std::vector<std::string>& exchanged_type_names();

}  // namespace zarrive::testing_support
