// SHA-256 (FIPS 180-4), to compare decoded values with the digests of the fixtures.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace zarrive::testing {

// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);

}  // namespace zarrive::testing
