#include "codec/partial.hpp"

#include <algorithm>

#include "zarrive/executor.hpp"

namespace zarrive {

ByteRange::Resolved cut_to(const ByteRange& range, std::uint64_t size) {
  if ((range.kind == ByteRange::Kind::range || range.kind == ByteRange::Kind::from) && range.offset > size)
    return {size, 0};
  return range.resolve(size);
}

void decode_from_memory(PartialDecode& part, const Buffer& value, bool parallel) {
  for (std::vector<WantedBytes> round = part.wanted(); !round.empty(); round = part.wanted()) {
    Executor::global().parallel_for(
        round.size(),
        [&](std::size_t i) {
          const ByteRange::Resolved at = cut_to(round[i].range, value.size());
          part.receive(i,
                       value.slice(static_cast<std::size_t>(at.offset), static_cast<std::size_t>(at.length)),
                       value.size());
        },
        {.max_concurrency = parallel ? std::size_t{0} : std::size_t{1}, .stop = {}});
  }
}

}  // namespace zarrive
