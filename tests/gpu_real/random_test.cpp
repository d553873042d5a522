// Small random arrays of every type, grid and chain of codecs, through random selections: into new device memory, into memory of any
// layout, in a stream of the caller's and without, and written from the device. The host does the same, and all bytes have to be alike.
#include <gtest/gtest.h>

#include <cstring>

#include "gpu_real/on_device.hpp"
#include "support/random_array.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory_store.hpp"

namespace zarrive::gpu_real {
namespace {

using namespace testing_support;

class RandomArrays : public OnDevice {
 protected:
  void run(std::uint64_t number) {
    Random random(number);
    const auto [type, format] = choose(random);
    const CreateOptions options = random_array(random, type, format);
    Array array = create_array(std::make_shared<MemoryStore>(), "a", options);
    SCOPED_TRACE(array.metadata().to_documents().back().second.dump());
    Pool pool(random, array);
    for (std::uint64_t i = 1 + pick(random, 3); i > 0; --i) {
      Bytes memory;
      const Selection where = i == 1 ? Selection() : some(random, array);
      const ArrayView values = pool.values(array.result_type(where), array.result_shape(where), memory);
      array.write(where, values);
    }
    for (int i = 0; i < 4; ++i) {
      const Selection where = i == 0 ? Selection() : some(random, array);
      SCOPED_TRACE(where.to_string());
      const int device = static_cast<int>(pick(random, static_cast<std::uint64_t>(devices())));
      gpu::Stream stream(gpu::Device::get(device));
      gpu::ReadReport report;
      ReadOptions read;
      read.device_report = &report;
      if (pick(random, 2)) read.stream = stream.handle();
      if (pick(random, 3) == 0) read.max_bytes_in_flight = 1 + pick(random, 500);
      if (pick(random, 3) == 0) read.max_device_bytes = 1 + pick(random, 5000);
      read.device_decode = static_cast<gpu::DeviceDecode>(pick(random, 3));
      pick(random, 2) ? read_new(array, where, device, read)
                      : read_layout(random, array, where, device, read);
      write(random, pool, array, where, device, stream);
    }
  }

 private:
  static std::pair<DataType, ZarrFormat> choose(Random& random) {
    for (;;) {
      const DataType type = DataType::parse(type_names()[pick(random, type_names().size())]);
      const ZarrFormat format = pick(random, 2) ? ZarrFormat::v2 : ZarrFormat::v3;
      if (!type.is_variable() && expressible(type, format)) return {type, format};
    }
  }

  static Selection some(Random& random, const Array& array) {
    return random_selection(random, array.shape(), array.metadata().chunk_grid, array.data_type());
  }

  // Elements to write: a few values over and over, the fill value among them, so that chunks of fill come about.
  class Pool {
   public:
    Pool(Random& random, const Array& array) : random_(random) {
      const FillValue fill = array.metadata().fill_value;
      whole_ = array.data_type();
      if (fill.bytes().size() == whole_.item_size())  // v2 knows arrays without one
        elements_.emplace_back(reinterpret_cast<const char*>(fill.bytes().data()), fill.bytes().size());
      for (int i = 0; i < 4; ++i) elements_.push_back(random_element(random, whole_));
    }
    ArrayView values(const DataType& type, const Shape& shape, Bytes& memory) {
      const ArrayView view = random_layout(random_, type, shape, memory);
      const bool constant = pick(random_, 4) == 0;
      const NDArray dense = NDArray::allocate(type, shape);
      const std::size_t item = type.item_size();
      for (std::uint64_t i = 0; i < view.size(); ++i) {
        const std::string element = type == whole_ ? elements_[constant ? 0 : pick(random_, elements_.size())]
                                                   : random_element(random_, type);
        std::memcpy(dense.view().data + i * item, element.data(), item);
      }
      copy(dense.view(), view);
      return view;
    }

   private:
    Random& random_;
    DataType whole_;
    std::vector<std::string> elements_;
  };

  static void read_new(const Array& array, const Selection& where, int device, ReadOptions options) {
    const NDArray expected = array.read(where);
    options.prototype = cuda(device);
    const NDArray found = array.read(where, options);
    EXPECT_EQ(found.view().space, cuda(device).space);
    EXPECT_EQ(found.shape(), expected.shape());
    EXPECT_EQ(options.device_report->total(), expected.view().nbytes()) << options.device_report->to_string();
    EXPECT_EQ(bytes_of(found, static_cast<gpu::CudaStream>(options.stream)), bytes_of(expected));
  }

  // What lies between the elements is compared too: nobody may write there.
  static void read_layout(Random& random, const Array& array, const Selection& where, int device,
                          const ReadOptions& options) {
    Bytes memory;
    const ArrayView view = random_layout(random, array.result_type(where), array.result_shape(where), memory);
    Buffer there = on_device(memory, device);
    array.read_into(where, moved(view, memory, there), options);
    array.read_into(where, view);
    EXPECT_EQ(
        copy_back(there.space(), there.data(), there.size(), static_cast<gpu::CudaStream>(options.stream)),
        memory);
  }

  static void write(Random& random, Pool& pool, const Array& array, const Selection& where, int device,
                    gpu::Stream& stream) {
    Bytes memory;
    const ArrayView values = pool.values(array.result_type(where), array.result_shape(where), memory);
    Array host = copy_of(array), from_device = copy_of(array);
    WriteOptions options;
    options.write_empty_chunks = pick(random, 2);
    if (pick(random, 3) == 0) options.max_bytes_in_flight = 1 + pick(random, 500);
    host.write(where, values, options);
    Buffer there = Buffer::allocate(memory.size(), cuda(device));
    if (pick(random, 2)) options.stream = stream.handle();
    if (pick(random, 3) == 0) options.device_encode = gpu::DeviceEncode::never;
    if (pick(random, 3) == 0) options.max_device_bytes = 1 + pick(random, 5000);
    gpu::copy_to_device(gpu::Device::get(device), there.mutable_data(), memory.data(), memory.size(),
                        stream.handle());
    if (!options.stream) stream.synchronize();
    from_device.write(where, moved(values, memory, there), options);
    EXPECT_EQ(bytes_of(from_device.read()), bytes_of(host.read())) << "written from the device";
    EXPECT_EQ(from_device.stored_chunk_count(), host.stored_chunk_count());
  }

  static Array copy_of(const Array& array) {
    const auto store = std::make_shared<MemoryStore>();
    for (const std::string& key : array.store()->list("")) store->set(key, *array.store()->get(key));
    return open_array(store, "a");
  }
};

TEST_F(RandomArrays, EqualTheHosts) {
  for (std::uint64_t i = 0; i < cases(); ++i) {
    SCOPED_TRACE("to repeat it: ZARRIVE_GPU_SEED=" + std::to_string(seed() + i) + " ZARRIVE_GPU_CASES=1");
    run(seed() + i);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace zarrive::gpu_real
