// JsonObject: members in a vector; above 16 of them a hash table of positions, kept current by every change, so that
// look-up on a const object only reads.
#include <bit>
#include <cstring>
#include <random>

#include "zarrive/json.hpp"

namespace zarrive {
namespace {

constexpr std::size_t linear_limit = 16;
constexpr std::size_t npos = static_cast<std::size_t>(-1);

// SipHash-1-3 (Aumasson, Bernstein 2012) with a key drawn once a process: documents come from strangers, and names chosen to
// collide must not make look-up quadratic.
class Hash {
 public:
  Hash() {
    std::random_device random;
    for (std::uint64_t* key : {&k0_, &k1_}) *key = (std::uint64_t{random()} << 32) | random();
  }
  std::uint64_t operator()(std::string_view text) const noexcept {
    std::uint64_t v0 = k0_ ^ 0x736f6d6570736575u, v1 = k1_ ^ 0x646f72616e646f6du;
    std::uint64_t v2 = k0_ ^ 0x6c7967656e657261u, v3 = k1_ ^ 0x7465646279746573u;
    auto round = [&] {
      v0 += v1, v1 = std::rotl(v1, 13), v1 ^= v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16), v3 ^= v2;
      v0 += v3, v3 = std::rotl(v3, 21), v3 ^= v0;
      v2 += v1, v1 = std::rotl(v1, 17), v1 ^= v2, v2 = std::rotl(v2, 32);
    };
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, p += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, p, 8);
      v3 ^= word, round(), v0 ^= word;
    }
    std::uint64_t last = 0;
    if (left) std::memcpy(&last, p, left);
    last |= static_cast<std::uint64_t>(text.size()) << 56;
    v3 ^= last, round(), v0 ^= last;
    v2 ^= 0xff;
    round(), round(), round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

 private:
  std::uint64_t k0_ = 0, k1_ = 0;
};

std::uint64_t hash_of(std::string_view text) noexcept {
  static const Hash hash;
  return hash(text);
}

}  // namespace

// Open addressing with linear probing; at most half full. Holds positions, so it survives moves and copies of the members.
struct JsonObject::Index {
  static constexpr std::size_t free = npos, erased = npos - 1;
  std::vector<std::size_t> slots;
  std::size_t used = 0;  // slots that are not free, erased ones too

  std::size_t find(const std::vector<Member>& members, std::string_view name) const noexcept {
    const std::size_t mask = slots.size() - 1;
    for (std::size_t s = hash_of(name) & mask;; s = (s + 1) & mask) {
      if (slots[s] == free) return npos;
      if (slots[s] != erased && members[slots[s]].first == name) return slots[s];
    }
  }
  void rebuild(const std::vector<Member>& members) {
    slots.assign(std::bit_ceil(members.size() * 4), free);
    used = 0;
    for (std::size_t i = 0; i < members.size(); ++i) place(members[i].first, i);
  }
  void place(std::string_view name, std::size_t position) noexcept {
    const std::size_t mask = slots.size() - 1;
    std::size_t s = hash_of(name) & mask;
    while (slots[s] != free) s = (s + 1) & mask;
    slots[s] = position;
    ++used;
  }
  void appended(const std::vector<Member>& members) {
    if ((used + 1) * 2 > slots.size()) rebuild(members);
    else place(members.back().first, members.size() - 1);
  }
  void removed(std::size_t position) noexcept {
    for (std::size_t& s : slots) {
      if (s == free || s == erased || s < position) continue;
      s = s == position ? erased : s - 1;
    }
  }
};

JsonObject::JsonObject() = default;
JsonObject::JsonObject(std::initializer_list<Member> members) {
  for (const Member& m : members) set(m.first, m.second);
}
JsonObject::JsonObject(const JsonObject& other)
    : members_(other.members_), index_(other.index_ ? std::make_shared<Index>(*other.index_) : nullptr) {}
JsonObject::JsonObject(JsonObject&& other) noexcept
    : members_(std::exchange(other.members_, {})), index_(std::exchange(other.index_, nullptr)) {}
JsonObject& JsonObject::operator=(const JsonObject& other) {
  if (this != &other) *this = JsonObject(other);
  return *this;
}
JsonObject& JsonObject::operator=(JsonObject&& other) noexcept {
  members_ = std::exchange(other.members_, {});
  index_ = std::exchange(other.index_, nullptr);
  return *this;
}
JsonObject::~JsonObject() = default;

std::size_t JsonObject::size() const noexcept { return members_.size(); }
bool JsonObject::empty() const noexcept { return members_.empty(); }
bool JsonObject::contains(std::string_view name) const { return find(name) != nullptr; }
const std::vector<JsonObject::Member>& JsonObject::members() const noexcept { return members_; }
std::vector<JsonObject::Member>::const_iterator JsonObject::begin() const noexcept {
  return members_.begin();
}
std::vector<JsonObject::Member>::const_iterator JsonObject::end() const noexcept { return members_.end(); }

const Json* JsonObject::find(std::string_view name) const {
  if (index_) {
    const std::size_t i = index_->find(members_, name);
    return i == npos ? nullptr : &members_[i].second;
  }
  for (const Member& m : members_)
    if (m.first == name) return &m.second;
  return nullptr;
}

Json* JsonObject::find(std::string_view name) { return const_cast<Json*>(std::as_const(*this).find(name)); }

Json& JsonObject::set(std::string_view name, Json value) {
  if (Json* present = find(name)) {
    *present = std::move(value);
    return *present;
  }
  if (members_.empty()) members_.reserve(4);
  members_.emplace_back(std::string(name), std::move(value));
  if (index_) {
    index_->appended(members_);
  } else if (members_.size() > linear_limit) {
    index_ = std::make_shared<Index>();
    index_->rebuild(members_);
  }
  return members_.back().second;
}

bool JsonObject::erase(std::string_view name) {
  const Json* present = find(name);
  if (!present) return false;
  std::size_t i = 0;
  while (&members_[i].second != present) ++i;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
  if (index_) index_->removed(i);
  return true;
}

bool JsonObject::operator==(const JsonObject& other) const {
  if (size() != other.size()) return false;
  for (const Member& m : members_) {
    const Json* theirs = other.find(m.first);
    if (!theirs || !(*theirs == m.second)) return false;
  }
  return true;
}

}  // namespace zarrive
