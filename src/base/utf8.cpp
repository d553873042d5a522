#include "base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace zarrive {

bool is_utf8(std::string_view text) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = at + text.size();
  while (at != end) {
    if (end - at >= 8) {  // eight ASCII characters at once
      std::uint64_t eight;
      std::memcpy(&eight, at, 8);
      if ((eight & 0x8080808080808080U) == 0) {
        at += 8;
        continue;
      }
    }
    const unsigned char lead = *at++;
    if (lead < 0x80) continue;
    int more = 0;
    unsigned char low =
        0x80;  // bounds of the second byte: they exclude long forms, surrogates and what is above U+10FFFF
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (end - at < more) return false;
    if (*at < low || *at > high) return false;
    for (++at, --more; more > 0; ++at, --more)
      if (*at < 0x80 || *at > 0xBF) return false;
  }
  return true;
}

}  // namespace zarrive
