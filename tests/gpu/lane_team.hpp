// A group of several lanes on the host, for kernel bodies: each lane is a thread, one of them runs at a time, and which goes on at a
// collective call is random. So a lane may be far ahead of another wherever nothing makes it wait, as on a device: a missing sync() gives
// wrong results here.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

namespace zarrive::gpu::testing {

class LaneTeam;

class LaneGroup {
 public:
  LaneGroup(LaneTeam& team, std::uint32_t lane) : team_(team), lane_(lane) {}
  std::uint32_t size() const;
  std::uint32_t lane() const { return lane_; }
  void sync() const { values(0); }
  std::uint32_t ballot(bool flag) const {
    std::uint32_t result = 0;
    const std::vector<std::uint64_t>& all = values(flag ? 1 : 0);
    for (std::uint32_t i = 0; i < all.size(); ++i) result |= static_cast<std::uint32_t>(all[i]) << i;
    return result;
  }
  template <class T>
  T broadcast(T value, std::uint32_t from) const {
    return static_cast<T>(values(value)[from]);
  }
  std::uint64_t inclusive_sum(std::uint64_t value) const {
    const std::vector<std::uint64_t>& all = values(value);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i <= lane_; ++i) sum += all[i];
    return sum;
  }
  std::uint32_t exclusive_or(std::uint32_t value) const {
    std::uint64_t result = 0;
    for (const std::uint64_t other : values(value)) result ^= other;
    return static_cast<std::uint32_t>(result);
  }

 private:
  const std::vector<std::uint64_t>& values(std::uint64_t own) const;  // of all lanes, at one collective call
  LaneTeam& team_;
  std::uint32_t lane_;
};

class LaneTeam {
 public:
  LaneTeam(std::uint32_t lanes, std::uint64_t seed) : random_(seed), lanes_(lanes) {
    for (Lane& lane : lanes_) lane.go = std::make_unique<std::binary_semaphore>(0);
    for (std::vector<std::uint64_t>& values : values_) values.resize(lanes);
  }

  // Runs body(group) on every lane to its end.
  template <class Body>
  void run(const Body& body) {
    waiting_ = ended_ = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].calls = 0;
      lanes_[i].state = State::ready;
      threads.emplace_back([this, i, &body] {
        lanes_[i].go->acquire();
        body(LaneGroup(*this, i));
        lanes_[i].state = State::ended;
        if (++ended_ != lanes_.size()) pick().release();
      });
    }
    pick().release();
    for (std::thread& thread : threads) thread.join();
  }

 private:
  friend class LaneGroup;
  enum class State { ready, waiting, ended };
  struct Lane {
    std::unique_ptr<std::binary_semaphore> go;
    State state = State::ready;
    unsigned calls = 0;
  };

  // One that is to run next.
  std::binary_semaphore& pick() {
    if (waiting_ != 0 && waiting_ + ended_ == lanes_.size()) {
      if (ended_ != 0) fail();
      waiting_ = 0;
      for (Lane& lane : lanes_) lane.state = State::ready;
    }
    std::uint32_t i = static_cast<std::uint32_t>(random_() % lanes_.size());
    while (lanes_[i].state != State::ready) i = (i + 1) % static_cast<std::uint32_t>(lanes_.size());
    return *lanes_[i].go;
  }
  [[noreturn]] static void fail() {
    std::fprintf(stderr, "some lanes have ended, others wait for them\n");
    std::abort();
  }

  std::mt19937_64 random_;
  std::vector<Lane> lanes_;
  std::size_t waiting_ = 0;
  std::size_t ended_ = 0;
  std::array<std::vector<std::uint64_t>, 2> values_;  // of even and of odd calls: no lane is two ahead
};

inline std::uint32_t LaneGroup::size() const { return static_cast<std::uint32_t>(team_.lanes_.size()); }

inline const std::vector<std::uint64_t>& LaneGroup::values(std::uint64_t own) const {
  LaneTeam::Lane& lane = team_.lanes_[lane_];
  std::vector<std::uint64_t>& all = team_.values_[lane.calls++ % 2];
  all[lane_] = own;
  lane.state = LaneTeam::State::waiting;
  ++team_.waiting_;
  std::binary_semaphore& next = team_.pick();
  next.release();  // perhaps this lane's own
  lane.go->acquire();
  return all;
}

}  // namespace zarrive::gpu::testing

namespace zarrive::gpu {

using testing::LaneGroup;
using testing::LaneTeam;

}  // namespace zarrive::gpu
