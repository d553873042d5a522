// How much memory this process has had at most.
#pragma once

#include <cstdint>

namespace zarrive::testing_support {

std::uint64_t peak_memory();  // bytes that were resident at once

}  // namespace zarrive::testing_support
