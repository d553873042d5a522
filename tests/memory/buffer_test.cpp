#include <gtest/gtest.h>

#include <cstring>

#include "support/errors.hpp"
#include "zarrive/memory.hpp"

namespace zarrive {
namespace {

using testing::code_of;

TEST(Buffer, EmptyIsHostMemory) {
  Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.host_span().size(), 0u);
  EXPECT_EQ(buffer.text(), "");
  EXPECT_EQ(Buffer::allocate(0).size(), 0u);
  EXPECT_EQ(Buffer::copy_of({}).size(), 0u);
  EXPECT_EQ(Buffer::from_string("").size(), 0u);
  EXPECT_EQ(Buffer::adopt({}).size(), 0u);
  EXPECT_EQ(buffer.slice(0, 0).size(), 0u);
}

TEST(Buffer, WaysToMakeOne) {
  const std::string text = "hello, world; longer than a short string holds";
  const auto bytes = std::as_bytes(std::span(text));
  const Buffer copied = Buffer::copy_of(bytes);
  EXPECT_EQ(copied.text(), text);
  EXPECT_NE(copied.data(), bytes.data());
  EXPECT_EQ(Buffer::borrow(bytes).data(), bytes.data());
  EXPECT_EQ(Buffer::from_string(text).text(), text);
  EXPECT_EQ(Buffer::from_string("short").text(), "short");
  std::vector<std::byte> vector(bytes.begin(), bytes.end());
  const std::byte* where = vector.data();
  const Buffer adopted = Buffer::adopt(std::move(vector));
  EXPECT_EQ(adopted.data(), where);
  EXPECT_EQ(adopted.text(), text);
  Buffer allocated = Buffer::allocate(100, {}, 4096);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(allocated.data()) % 4096, 0u);
  std::memset(allocated.mutable_host_span().data(), 'x', 100);
  EXPECT_EQ(allocated.text(), std::string(100, 'x'));
}

TEST(Buffer, CopiesAndSlicesKeepTheBytesAlive) {
  auto owner = std::make_shared<std::string>("0123456789");
  std::weak_ptr<std::string> watch = owner;
  Buffer part;
  {
    const Buffer whole =
        Buffer::share(owner, reinterpret_cast<const std::byte*>(owner->data()), owner->size());
    owner.reset();
    part = whole.slice(2, 5).slice(1, 3);
  }
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(part.text(), "345");
  part = Buffer();
  EXPECT_TRUE(watch.expired());
}

TEST(Buffer, SliceBounds) {
  const Buffer buffer = Buffer::from_string("0123456789");
  EXPECT_EQ(buffer.slice(10, 0).size(), 0u);
  EXPECT_EQ(buffer.slice(0, 10).text(), "0123456789");
  EXPECT_EQ(code_of([&] { buffer.slice(0, 11); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { buffer.slice(11, 0); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { buffer.slice(5, static_cast<std::size_t>(-3)); }), ErrorCode::out_of_bounds);
}

TEST(Buffer, DeviceAddressesAreNotForTheHost) {
  const std::byte* address = reinterpret_cast<const std::byte*>(std::uintptr_t{0x7000000000});
  Buffer buffer = Buffer::borrow({address, 16}, cuda(2).space);
  EXPECT_EQ(code_of([&] { buffer.host_span(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { buffer.mutable_host_span(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(buffer.device_span().data(), address);
  EXPECT_EQ(code_of([] { Buffer::from_string("x").device_span(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(buffer.slice(4, 4).data(), address + 4);
  EXPECT_EQ(buffer.slice(4, 4).space().name(), "cuda:2");
}

TEST(Buffer, OwnAllocatorIsUsed) {
  struct Counting : Allocator {
    int calls = 0;
    std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) override {
      ++calls;
      return size > 1000 ? nullptr : pool_allocator()->allocate(size, alignment);
    }
  };
  auto counting = std::make_shared<Counting>();
  const Buffer buffer = Buffer::allocate(10, {{}, counting});
  EXPECT_EQ(buffer.size(), 10u);
  EXPECT_EQ(counting->calls, 1);
  EXPECT_EQ(code_of([&] { Buffer::allocate(2000, {{}, counting}); }), ErrorCode::resource_limit);
}

}  // namespace
}  // namespace zarrive
