#include "memory/scratch.hpp"

namespace zarrive {

NDArray scratch_array(const DataType& type, const Shape& shape) {
  return NDArray::allocate(type, shape, {.space = {}, .allocator = pool_allocator()});
}

}  // namespace zarrive
