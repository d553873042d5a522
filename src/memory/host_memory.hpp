// Raw host memory: small blocks from malloc, large ones mapped on huge pages.
#pragma once

#include <cstddef>

namespace zarrive::detail {

inline constexpr std::size_t page_size = 4096;
inline constexpr std::size_t huge_page_size = std::size_t{2} << 20;

// At least `size` bytes aligned to `alignment`, contents undefined. From huge_page_size on, the block is aligned to a huge page
// and the kernel is asked to back it with them. Errors: invalid_argument when `alignment` is no power of two, resource_limit when
// the system has no such memory. Release with host_free and the same size and alignment.
std::byte* host_allocate(std::size_t size, std::size_t alignment);
void host_free(std::byte* data, std::size_t size, std::size_t alignment) noexcept;

}  // namespace zarrive::detail
