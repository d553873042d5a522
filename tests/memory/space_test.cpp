#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

using testing::code_of;

TEST(MemorySpace, NamesRoundTrip) {
  for (const char* name : {"host", "pinned", "cuda:0", "cuda:7"})
    EXPECT_EQ(MemorySpace::parse(name).name(), name);
  EXPECT_EQ(MemorySpace::parse("cuda").name(), "cuda:0");
  for (const char* name : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:x", "cuda:99999999999999", "Host",
                           "host ", "cuda:+1"})
    EXPECT_EQ(code_of([&] { MemorySpace::parse(name); }), ErrorCode::invalid_argument) << name;
  EXPECT_EQ(cuda(3).space.name(), "cuda:3");
  EXPECT_EQ(pinned().space.name(), "pinned");
  EXPECT_EQ(host().space, MemorySpace{});
  EXPECT_FALSE(cuda().space.host_accessible());
  EXPECT_TRUE(pinned().space.host_accessible());
  MemorySpace odd;
  odd.kind = static_cast<MemoryKind>(77);
  EXPECT_EQ(odd.name(), "unknown");
}

TEST(Allocators, HostAndPinned) {
  for (std::size_t size : {0u, 1u, 100u, 4096u, 1u << 21, 3u << 20, (5u << 20) + 3, 17u << 20})
    for (std::size_t alignment : {1u, 8u, 64u, 4096u, 1u << 22}) {
      auto memory = default_allocator({})->allocate(size, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % alignment, 0u);
      EXPECT_TRUE(size < 1u << 21 || reinterpret_cast<std::uintptr_t>(memory.get()) % (1u << 21) == 0);
      if (size) {
        memory.get()[0] = memory.get()[size - 1] = std::byte{1};
      }
    }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(default_allocator(pinned().space)->allocate(10, 1).get()) % 4096,
            0u);
  EXPECT_EQ(code_of([] { default_allocator({})->allocate(10, 3); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { default_allocator({})->allocate(10, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { default_allocator({})->allocate(static_cast<std::size_t>(-1), 64); }),
            ErrorCode::resource_limit);
  EXPECT_EQ(code_of([] { default_allocator({})->allocate(std::size_t{1} << 61, 64); }),
            ErrorCode::resource_limit);
}

TEST(Allocators, DeviceMemoryNeedsARegisteredAllocator) {
  EXPECT_EQ(code_of([] { default_allocator(cuda().space); }), ErrorCode::unsupported);
  int made = 0;
  register_allocator(MemoryKind::cuda, [&](const MemorySpace&) {
    ++made;
    return default_allocator({}) == nullptr ? nullptr : pool_allocator();
  });
  // The maker may itself ask for allocators of other spaces.
  EXPECT_EQ(default_allocator(cuda(1).space), pool_allocator());
  EXPECT_EQ(default_allocator(cuda(1).space), pool_allocator());
  EXPECT_EQ(made, 1);
  default_allocator(cuda(2).space);
  EXPECT_EQ(made, 2);
  const Buffer buffer = Buffer::allocate(10, cuda(1));
  EXPECT_EQ(buffer.space().name(), "cuda:1");
  EXPECT_EQ(buffer.device_span().size(), 10u);
  EXPECT_EQ(code_of([&] { buffer.host_span(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { buffer.text(); }), ErrorCode::invalid_argument);
  register_allocator(MemoryKind::cuda, [](const MemorySpace&) { return nullptr; });
  EXPECT_EQ(code_of([] { default_allocator(cuda().space); }), ErrorCode::unsupported);
  register_allocator(MemoryKind::cuda, {});
  EXPECT_EQ(code_of([] { default_allocator(cuda(1).space); }), ErrorCode::unsupported);
}

TEST(Populate, KeepsContentsAndTakesAnyRange) {
  populate(nullptr, 100);
  std::vector<std::byte> small(100, std::byte{7});
  populate(small.data(), small.size());
  EXPECT_EQ(small[50], std::byte{7});
  Buffer large = Buffer::allocate(std::size_t{9} << 20);
  auto bytes = large.mutable_host_span();
  bytes[5] = bytes[bytes.size() - 1] = std::byte{9};
  populate(bytes.data() + 3, bytes.size() - 3);
  populate(bytes.data(), bytes.size());
  EXPECT_EQ(bytes[5], std::byte{9});
  EXPECT_EQ(bytes.back(), std::byte{9});
}

}  // namespace
}  // namespace zarrive
