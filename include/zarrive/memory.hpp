// Memory: where bytes live (spaces), who owns them (buffers), how they are to be allocated (prototypes), and strided views.
//
// Device pointers are never touched by host code outside src/gpu/; asking a device buffer for a host span is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrive/checked.hpp"
#include "zarrive/data_type.hpp"
#include "zarrive/error.hpp"
#include "zarrive/export.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive {

enum class MemoryKind : std::uint8_t { host, pinned, cuda };

// A place for bytes. Pinned is host memory that a GPU can copy from at full speed.
struct ZARRIVE_API MemorySpace {
  MemoryKind kind = MemoryKind::host;
  int device = 0;  // of cuda

  bool host_accessible() const noexcept { return kind != MemoryKind::cuda; }
  std::string name() const;                         // "host", "pinned", "cuda:0"
  static MemorySpace parse(std::string_view name);  // the same; "cuda" is "cuda:0"; Error(invalid_argument)
  bool operator==(const MemorySpace&) const = default;
};

// Memory of a space. Implementations are thread-safe.
class ZARRIVE_API Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `size` bytes aligned to `alignment` (a power of two), contents undefined; released by the last copy of the pointer.
  virtual std::shared_ptr<std::byte> allocate(std::size_t size, std::size_t alignment) = 0;
};

// How to allocate what a read returns: zarr-python v2's `meta_array`, v3's buffer prototype.
struct ZARRIVE_API Prototype {
  MemorySpace space;
  std::shared_ptr<Allocator> allocator;  // null: the default allocator of the space
};
ZARRIVE_API Prototype host();
ZARRIVE_API Prototype pinned();
ZARRIVE_API Prototype cuda(int device = 0);

// The default allocator of a kind of memory. Host is always there: large blocks (2 MiB and up) come on huge pages.
// Pinned is page-aligned host memory on machines without a GPU; cuda is then Error(unsupported) that says what is missing.
ZARRIVE_API std::shared_ptr<Allocator> default_allocator(const MemorySpace& space);
// `make` is called once a space; null from it is as if there were none. An empty `make` takes the registration back.
ZARRIVE_API void register_allocator(MemoryKind kind,
                                    std::function<std::shared_ptr<Allocator>(const MemorySpace&)> make);

// Blocks that are kept and reused, for scratch and encoded bytes: fresh pages cost more than decoding into them.
// Blocks are rounded up to size classes; at most `max_kept` bytes are kept while idle.
ZARRIVE_API std::shared_ptr<Allocator> pool_allocator();

// Bytes in a space: owned (shared) or borrowed. Copies share the bytes.
class ZARRIVE_API Buffer {
 public:
  Buffer() = default;  // empty host buffer
  static Buffer allocate(std::size_t size, const Prototype& prototype = {}, std::size_t alignment = 64);
  static Buffer copy_of(std::span<const std::byte> bytes);
  static Buffer from_string(std::string text);
  static Buffer adopt(std::vector<std::byte> bytes);
  static Buffer borrow(std::span<const std::byte> bytes,
                       MemorySpace space = {});  // the caller keeps them alive; read-only by contract
  // Any memory with an owner that keeps it alive.
  static Buffer share(std::shared_ptr<const void> owner, const std::byte* data, std::size_t size,
                      MemorySpace space = {});

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const MemorySpace& space() const noexcept { return space_; }
  const std::byte* data() const noexcept { return data_; }  // may be a device address
  std::byte* mutable_data() noexcept { return const_cast<std::byte*>(data_); }

  // Error(invalid_argument) when the bytes are not host accessible.
  std::span<const std::byte> host_span() const;
  std::span<std::byte> mutable_host_span();
  std::string_view text() const;  // the bytes as characters
  // Error(invalid_argument) when the bytes are in host memory.
  std::span<const std::byte> device_span() const;

  Buffer slice(std::size_t offset, std::size_t size) const;  // shares; Error(out_of_bounds)

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  MemorySpace space_;
};

// An N-dimensional view of elements that somebody else owns. Strides are in bytes and may be zero or negative.
struct ZARRIVE_API ArrayView {
  std::byte* data = nullptr;  // first element
  DataType type;
  Shape shape;
  Strides strides;
  MemorySpace space;

  ArrayView() = default;
  ArrayView(std::byte* data, DataType type, Shape shape, Strides strides, MemorySpace space = {});
  // Dense, C order.
  ArrayView(std::byte* data, DataType type, Shape shape, MemorySpace space = {});
  template <class T>
  static ArrayView of(T* data, Shape shape) {
    return ArrayView(reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(data)),
                     data_type_of<T>(), std::move(shape));
  }

  std::size_t ndim() const noexcept { return shape.size(); }
  std::uint64_t size() const { return element_count(shape); }
  std::size_t nbytes() const { return byte_count(shape, type.item_size()); }
  bool is_contiguous()
      const noexcept;  // dense C order (dimensions of extent 1 do not matter; empty is contiguous)
  // The box [start, start + extent) as a view of the same memory. Error(out_of_bounds).
  ArrayView box(std::span<const std::uint64_t> start, std::span<const std::uint64_t> extent) const;
  ArrayView transposed(
      std::span<const std::size_t> order) const;  // result dimension i is our dimension order[i]
};

class NDArray;
// An NDArray over memory that `buffer` keeps alive.
ZARRIVE_API NDArray make_ndarray(Buffer buffer, ArrayView view);

// Elements that a read allocated: an ArrayView with its owner. Variable-length elements are constructed and destroyed with it.
class ZARRIVE_API NDArray {
 public:
  NDArray() = default;
  // Dense, C order, contents undefined for fixed-size types, empty strings for variable ones.
  static NDArray allocate(const DataType& type, const Shape& shape, const Prototype& prototype = {});
  const ArrayView& view() const noexcept { return view_; }
  const Buffer& buffer() const noexcept { return buffer_; }  // the bytes; of fixed-size types
  const Shape& shape() const noexcept { return view_.shape; }
  const DataType& type() const noexcept { return view_.type; }
  std::uint64_t size() const { return view_.size(); }

  // Elements in C order. Error(invalid_argument) when T is not the type or the memory is not host accessible.
  template <class T>
  std::span<T> span() const {
    check_host_type(data_type_of<T>());
    return {reinterpret_cast<T*>(view_.data), static_cast<std::size_t>(size())};
  }

 private:
  friend NDArray make_ndarray(Buffer buffer, ArrayView view);
  void check_host_type(const DataType& asked) const;
  Buffer buffer_;
  ArrayView view_;
};

// Copies elements between views of equal shape and type, any strides, host memory. Variable-length elements are assigned. The two must
// not overlap. Elements are visited in no particular order. Error(invalid_argument) when type, shape or memory do not fit.
ZARRIVE_API void copy(const ArrayView& source, const ArrayView& destination);
// As copy, converting elements when the types differ (see can_convert).
ZARRIVE_API void convert(const ArrayView& source, const ArrayView& destination);
// Sets every element to one element's bytes (item_size of them), or to a string for variable types. Host memory.
ZARRIVE_API void fill(const ArrayView& destination, std::span<const std::byte> element);
ZARRIVE_API void fill(const ArrayView& destination, const std::string& element);
ZARRIVE_API void fill(const ArrayView& destination, const FillValue& value);  // of the view's type
// True when every element has exactly these bits (or equals the string).
ZARRIVE_API bool all_equal(const ArrayView& view, std::span<const std::byte> element);
ZARRIVE_API bool all_equal(const ArrayView& view, const std::string& element);
ZARRIVE_API bool all_equal(const ArrayView& view, const FillValue& value);
// Makes the pages of fresh memory present (and huge where possible) before it is written; cheap when they are. Contents stay.
ZARRIVE_API void populate(std::byte* data, std::size_t size) noexcept;

}  // namespace zarrive
