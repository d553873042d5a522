// Checksum functions, over whole byte strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace zarrive {

std::uint32_t crc32c(std::span<const std::byte> bytes);           // Castagnoli: "123456789" -> 0xE3069283
std::uint32_t crc32c_portable(std::span<const std::byte> bytes);  // the same without isa-l
std::uint32_t crc32(std::span<const std::byte> bytes);            // of zlib: -> 0xCBF43926
std::uint32_t adler32(std::span<const std::byte> bytes);          // of zlib: -> 0x091E01DE
// As HDF5's filter 3: 16-bit big-endian words, an odd last byte is the high one: -> 0x09DF09D5
std::uint32_t fletcher32(std::span<const std::byte> bytes);
// Bob Jenkins' lookup3, hashlittle(): -> 0x845D9A96 with initval 0
std::uint32_t jenkins_lookup3(std::span<const std::byte> bytes, std::uint32_t initval);

}  // namespace zarrive
