// Device and pinned memory, streams and events, on the fake driver.
#include "gpu/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/sanitizers.hpp"
#include "gpu/device.hpp"
#include "gpu/fake_driver.hpp"
#include "support/errors.hpp"

namespace zarrive::gpu {
namespace {

using testing::counting;
using testing::peek;
using zarrive::testing::code_of;

class CudaMemory : public testing::Balanced {};

TEST_F(CudaMemory, BuffersLiveOnTheirDevice) {
  Buffer buffer = Buffer::allocate(1000, cuda(1));
  EXPECT_EQ(buffer.space(), (MemorySpace{MemoryKind::cuda, 1}));
  EXPECT_EQ(buffer.device_span().size(), 1000u);
  EXPECT_EQ(code_of([&] { buffer.host_span(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(fake_cuda::counts().allocations, before_.allocations + 1);

  int device = -1;
  unsigned kind = 0;
  int attributes[] = {cuda_pointer_device_ordinal, cuda_pointer_memory_type};
  void* values[] = {&device, &kind};
  driver().pointer_attributes(2, attributes, values, reinterpret_cast<std::uintptr_t>(buffer.data()));
  EXPECT_EQ(device, 1);
  EXPECT_EQ(kind, cuda_memory_device);
  EXPECT_FALSE(Buffer::allocate(0, cuda(0)).space().host_accessible());
}

TEST_F(CudaMemory, WhatCannotBeIsRefused) {
  EXPECT_EQ(code_of([] { Buffer::allocate(8, cuda(2)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Buffer::allocate(std::size_t{1} << 40, cuda(0)); }), ErrorCode::resource_limit);
  EXPECT_EQ(code_of([] { Buffer::allocate(8, cuda(0), 512); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Buffer::allocate(8, cuda(0), 24); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Buffer::allocate(8, pinned(), 8192); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Buffer::allocate(std::size_t{1} << 63, pinned()); }), ErrorCode::resource_limit);
}

TEST_F(CudaMemory, TheHostCannotTouchIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Buffer buffer = Buffer::allocate(16, cuda(0));
        std::memset(buffer.mutable_data(), 0, 16);
      },
      "");
}

TEST_F(CudaMemory, PinnedSlabsAreKeptAndReused) {
  const std::byte* first = nullptr;
  {
    const Buffer buffer = Buffer::allocate(3000, pinned(), 4096);
    first = buffer.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 4096, 0u);
    EXPECT_TRUE(buffer.space().host_accessible());
  }
  const long made = fake_cuda::counts().pinned;
  const Buffer again = Buffer::allocate(std::size_t{1} << 20, pinned());
  EXPECT_EQ(again.data(), first);
  const Buffer other = Buffer::allocate(5 << 20, pinned());
  EXPECT_NE(other.data(), first);
  EXPECT_LE(fake_cuda::counts().pinned, made + 1);
}

TEST_F(CudaMemory, CopiesHappenInStreamOrder) {
  const Device& device = Device::get(0);
  const std::vector<std::byte> sent = counting(10'000);
  Buffer from = Buffer::allocate(sent.size(), pinned());
  Buffer on_device = Buffer::allocate(sent.size(), cuda(0));
  Buffer back = Buffer::allocate(sent.size(), pinned());
  std::memcpy(from.mutable_data(), sent.data(), sent.size());
  std::memset(back.mutable_data(), 0, sent.size());
  Stream stream(device);
  copy_to_device(device, on_device.mutable_data(), from.data(), sent.size(), stream.handle());
  copy_to_host(device, back.mutable_data(), on_device.data(), sent.size(), stream.handle());
  EXPECT_NE(peek(on_device.data(), sent.size()), sent) << "nobody has waited yet";
  stream.synchronize();
  EXPECT_EQ(peek(on_device.data(), sent.size()), sent);
  EXPECT_EQ(std::memcmp(back.data(), sent.data(), sent.size()), 0);
  EXPECT_EQ(fake_cuda::counts().bytes_to_device, sent.size());
  copy_to_device(device, nullptr, nullptr, 0, stream.handle());  // nothing is no call
}

TEST_F(CudaMemory, PinnedMemoryIsReadWhenTheStreamGetsThere) {
  const Device& device = Device::get(0);
  Buffer from = Buffer::allocate(8, pinned());
  Buffer to = Buffer::allocate(8, cuda(0));
  Stream stream(device);
  std::memset(from.mutable_data(), 1, 8);
  copy_to_device(device, to.mutable_data(), from.data(), 8, stream.handle());
  std::memset(from.mutable_data(), 2, 8);  // too early
  stream.synchronize();
  EXPECT_EQ(peek(to.data(), 1)[0], std::byte{2});

  std::vector<std::byte> pageable(8, std::byte{3});
  copy_to_device(device, to.mutable_data(), pageable.data(), 8, stream.handle());
  pageable.assign(8, std::byte{4});
  stream.synchronize();
  EXPECT_EQ(peek(to.data(), 1)[0], std::byte{3}) << "the driver stages what is not pinned";
}

TEST_F(CudaMemory, EventsOrderStreams) {
  const Device& device = Device::get(1);
  const std::vector<std::byte> sent = counting(64);
  Buffer from = Buffer::allocate(64, pinned());
  Buffer between = Buffer::allocate(64, cuda(1));
  Buffer back = Buffer::allocate(64, pinned());
  std::memcpy(from.mutable_data(), sent.data(), 64);
  std::memset(back.mutable_data(), 0xEE, 64);  // the slab may hold what another test put there
  Stream first(device), second(device);
  Event event(device);
  event.wait();  // nothing was recorded
  copy_to_device(device, between.mutable_data(), from.data(), 64, first.handle());
  event.record(first.handle());
  event.wait_in(second.handle());
  copy_to_host(device, back.mutable_data(), between.data(), 64, second.handle());
  EXPECT_FALSE(std::equal(sent.begin(), sent.end(), back.data()));
  second.synchronize();
  EXPECT_EQ(std::memcmp(back.data(), sent.data(), 64), 0);
  EXPECT_TRUE(event.done());

  Event moved(std::move(event));
  moved.record(first.handle());
  moved.wait();
  EXPECT_TRUE(moved.done());
}

TEST_F(CudaMemory, AskingAnEventGetsThereInTheEnd) {
  const Device& device = Device::get(0);
  Buffer from = Buffer::allocate(8, pinned());
  Buffer to = Buffer::allocate(8, cuda(0));
  Stream stream(device);
  Event event(device);
  for (int i = 0; i < 3; ++i) copy_to_device(device, to.mutable_data(), from.data(), 8, stream.handle());
  event.record(stream.handle());
  EXPECT_FALSE(event.done());
  while (!event.done()) {
  }
}

// A forked child inherits memory, streams and events of its parent, and can but drop them.
TEST_F(CudaMemory, AForkedChildLetsGoOfEverything) {
  if (ZARRIVE_TSAN) GTEST_SKIP() << "TSan lets no thread start in a forked child";
  const Device& device = Device::get(0);
  auto on_device = std::make_unique<Buffer>(Buffer::allocate(100, cuda(0)));
  auto slab = std::make_unique<Buffer>(Buffer::allocate(100, pinned()));
  auto stream = std::make_unique<Stream>(device);
  auto event = std::make_unique<Event>(device);
  event->record(stream->handle());
  const std::shared_ptr<Allocator> allocator = device_allocator(cuda(0).space);
  const std::shared_ptr<Allocator> pinning = pinned_allocator(pinned().space);
  const fake_cuda::Counts counts = fake_cuda::counts();
  EXPECT_TRUE(testing::in_child([&] {
    const bool all_refused =
        testing::refused([&] { Stream another(device); }) &&
        testing::refused([&] { stream->synchronize(); }) &&
        testing::refused([&] { event->record(stream->handle()); }) &&
        testing::refused([&] { event->wait(); }) && testing::refused([&] { event->done(); }) &&
        testing::refused([&] { event->wait_in(stream->handle()); }) && testing::refused([&] {
          copy_to_host(device, slab->mutable_data(), on_device->data(), 100, nullptr);
        }) &&
        testing::refused([&] { allocator->allocate(8, 8); }) &&
        testing::refused([&] { pinning->allocate(8, 8); });
    on_device.reset();
    slab.reset();
    event.reset();
    stream.reset();
    const fake_cuda::Counts now = fake_cuda::counts();
    return all_refused && now.allocations == counts.allocations && now.streams == counts.streams &&
           now.events == counts.events && now.bad_calls == counts.bad_calls;
  }));
}

// Every call of the driver that can fail, failing: an error, nothing left over, and the next try works.
TEST_F(CudaMemory, FailuresAreErrorsAndLeakNothing) {
  const auto use = [] {
    const Device& device = Device::get(0);
    Buffer from =
        Buffer::allocate(std::size_t{64} << 20, pinned());  // a size that no other test keeps a slab of
    Buffer to = Buffer::allocate(100, cuda(0));
    Stream stream(device);
    Event event(device);
    copy_to_device(device, to.mutable_data(), from.data(), 100, stream.handle());
    event.record(stream.handle());
    event.wait_in(stream.handle());
    event.done();
    event.wait();
    copy_to_host(device, from.mutable_data(), to.data(), 100, stream.handle());
    stream.synchronize();
  };
  for (const char* function :
       {"cuMemHostAlloc", "cuMemAlloc_v2", "cuCtxPushCurrent_v2", "cuStreamCreate", "cuEventCreate",
        "cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuStreamWaitEvent", "cuEventQuery", "cuEventSynchronize",
        "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}) {
    for (const int result : {cuda_out_of_memory, 999}) {
      fake_cuda::fail(function, result, 0);
      EXPECT_EQ(code_of(use),
                result == cuda_out_of_memory ? ErrorCode::resource_limit : ErrorCode::unavailable)
          << function;
      EXPECT_EQ(fake_cuda::counts().allocations, before_.allocations) << function;
      if (std::string(function) == "cuMemHostAlloc" && result == 999) use();  // from here on there is a slab
    }
  }
  use();
}

}  // namespace
}  // namespace zarrive::gpu
