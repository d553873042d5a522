// Arrays: opening, creating, reading and writing.
//
// A read is planned once, goes to the store as one batch in which every chunk carries its context, and decodes each chunk as it arrives
// into its place in the result. A chunk that is not stored reads as the fill value; a chunk that cannot be read or decoded is an error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrive/chunk_part.hpp"
#include "zarrive/codec_chain.hpp"
#include "zarrive/context.hpp"
#include "zarrive/export.hpp"
#include "zarrive/gpu.hpp"
#include "zarrive/memory.hpp"
#include "zarrive/metadata.hpp"
#include "zarrive/open_store.hpp"
#include "zarrive/selection.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

struct ReadOptions {
  std::optional<Prototype> prototype = {};         // where results and scratch come from; absent: host
  bool convert = false;                            // allow a destination of another numeric type
  std::size_t max_concurrency = 0;                 // 0: all compute threads
  std::uint64_t max_bytes_in_flight = 256u << 20;  // bound on encoded bytes held at one time
  std::stop_token stop = {};
  // false: parts of uncompressed chunks that end in a checksum are read without the rest, and not verified.
  bool verify_checksums = true;
  // Ranges of one value that lie this close together are read as one, up to so many bytes. Absent: what suits the store, and 16 MiB.
  std::optional<std::uint64_t> coalesce_gap = {};
  std::optional<std::uint64_t> coalesce_limit = {};
  // Of reads into device memory: a CUstream (cudaStream_t) of that device. What is put into it after the read sees the result, and the read
  // comes after what was put into it before; the call may return earlier than that, unless chunks were decoded on the device, whose statuses
  // have to be looked at. Null: the result is there when the call returns, and
  // nobody else may use the destination meanwhile. (The default stream has the handle CU_STREAM_LEGACY, 0x1.)
  void* stream = nullptr;
  gpu::DeviceDecode device_decode = gpu::DeviceDecode::automatic;
  std::uint64_t max_device_bytes =
      512u << 20;  // of the same: bound on device memory for chunks that are decoded there
  gpu::ReadReport* device_report = nullptr;  // of the same: gets which ways the bytes took
};

struct WriteOptions {
  bool convert = false;             // allow a source of another numeric type
  bool write_empty_chunks = false;  // store chunks that hold nothing but the fill value
  std::size_t max_concurrency = 0;
  std::uint64_t max_bytes_in_flight =
      256u << 20;  // bound on decoded chunks held for partial writes, and on encoded bytes
  std::stop_token stop = {};
  ShardOrder shard_order = ShardOrder::c_order;  // of the inner chunks in a shard
  // Of sources in device memory: a CUstream of that device; the elements are those after everything put into it so far. Null: the source
  // is complete. The call returns when all is written, either way.
  void* stream = nullptr;
  // Of the same: where nvCOMP is installed, chunks that the write covers whole, with elements of the array's own type, are encoded on the
  // device when the chain is `bytes` as the elements lie in memory, then zstd (without its checksum) or numcodecs' lz4, then at most checksums;
  // only encoded bytes cross. nvCOMP has a level of its own. Other chunks cross as elements, and the host encodes them, as it does when the
  // device has no memory left. Error(unavailable) naming the chunk when nvCOMP fails.
  gpu::DeviceEncode device_encode = gpu::DeviceEncode::automatic;
  std::uint64_t max_device_bytes =
      512u << 20;  // of the same: bound on device memory for chunks that are encoded there
};

// One chunk of a list that the caller made (Array::read_parts, Array::write_parts): which chunk, and which part of it goes where.
struct ChunkAccess {
  Index chunk = {};  // grid index
  // Places are those of the call's memory, which has a dimension for each of the array's; of points: of that memory seen as one dimension.
  ChunkPart part = {};
  // For callers that know the chunk better than the array's metadata does (its shape may be out of date): the store key, below the store's
  // root, and the chunk's full shape. With both the array's grid and shape play no role, and `chunk` may be left empty.
  std::optional<std::string> key = {};
  std::optional<Shape> chunk_shape = {};
  // The part has all of the chunk that lies in the array. Absent: it is found out (with a chunk_shape: against all of that).
  std::optional<bool> covers = {};
};

// Elements of a C++ type with a shape; owns its memory, C order. What Array::read<T> gives.
template <class T>
class TypedArray {
 public:
  TypedArray() = default;
  explicit TypedArray(NDArray array) : array_(std::move(array)), span_(array_.span<T>()) {}

  const Shape& shape() const noexcept { return array_.shape(); }
  std::size_t size() const noexcept { return span_.size(); }
  T* data() const noexcept { return span_.data(); }
  std::span<T> span() const noexcept { return span_; }
  auto begin() const noexcept { return span_.begin(); }
  auto end() const noexcept { return span_.end(); }
  T& operator[](std::size_t i) const noexcept { return span_[i]; }  // in C order
  // One position a dimension, unchecked: a(3, 0, 7).
  template <class... Positions>
  T& operator()(Positions... positions) const noexcept {
    std::size_t at = 0;
    std::size_t dimension = 0;
    ((at = at * static_cast<std::size_t>(array_.shape()[dimension++]) + static_cast<std::size_t>(positions)),
     ...);
    return span_[at];
  }
  std::vector<T> to_vector() const { return {span_.begin(), span_.end()}; }
  const NDArray& array() const noexcept { return array_; }
  const ArrayView& view() const noexcept { return array_.view(); }

 private:
  NDArray array_;
  std::span<T> span_;
};

class BlockRange;  // zarrive/blocks.hpp
struct BlockOptions;
struct ArrayParts;
class MemoCache;

class ZARRIVE_API Array {
 public:
  // From its parts; the metadata is taken as it is. Normally open_array or create_array make one.
  Array(std::shared_ptr<Store> store, std::string path, ArrayMetadata metadata, MetadataOptions options = {});
  // The same metadata elsewhere; it and the codec chain are shared, not made anew.
  Array with_store(std::shared_ptr<Store> store, std::string path) const;

  const ArrayMetadata& metadata() const noexcept { return *metadata_; }
  const std::shared_ptr<Store>& store() const noexcept { return store_; }
  const std::string& path() const noexcept { return path_; }
  const Shape& shape() const noexcept { return metadata_->shape; }
  std::size_t ndim() const noexcept { return metadata_->shape.size(); }
  const DataType& data_type() const noexcept { return metadata_->data_type; }
  std::uint64_t size() const { return element_count(metadata_->shape); }
  Shape grid_shape() const { return metadata_->chunk_grid.grid_shape(metadata_->shape); }
  const JsonObject& attributes() const noexcept { return metadata_->attributes; }
  void set_attributes(JsonObject attributes);  // replaces them, and writes the metadata

  // --- reading: selections of any kind into new memory, or the caller's ---
  // With a prototype of device memory, cuda(0), the result is there; see ReadOptions::stream.
  NDArray read(const Selection& selection = {}, const ReadOptions& options = {}) const;
  // As T; Error(invalid_argument) when the array has another type and options.convert is not set.
  template <class T>
  TypedArray<T> read(const Selection& selection = {}, const ReadOptions& options = {}) const {
    return TypedArray<T>(read_as(data_type_of<T>(), selection, options));
  }
  // Into the caller's memory, any strides; its shape is the selection's (integers drop their dimension).
  void read_into(const Selection& selection, const ArrayView& destination,
                 const ReadOptions& options = {}) const;
  // Into as many elements, in C order.
  template <class T>
  void read_into(const Selection& selection, std::span<T> destination,
                 const ReadOptions& options = {}) const {
    read_flat(selection, data_type_of<T>(), reinterpret_cast<std::byte*>(destination.data()),
              destination.size(), options);
  }
  template <class T>
  void read_into(const Selection& selection, std::vector<T>& destination,
                 const ReadOptions& options = {}) const {
    destination.resize(static_cast<std::size_t>(element_count(result_shape(selection))));
    read_into(selection, std::span<T>(destination), options);
  }
  // What a selection means for this array; block selections and fields too. Errors as resolve() has them.
  ResolvedSelection resolve(const Selection& selection) const;
  Shape result_shape(const Selection& selection) const;
  DataType result_type(const Selection& selection) const;  // the array's, unless the selection names fields

  // The selection chunk by chunk, with read-ahead: for (auto& block : array.blocks(selection)). See zarrive/blocks.hpp.
  BlockRange blocks(const Selection& selection = {}) const;
  BlockRange blocks(const Selection& selection, const BlockOptions& options) const;

  // --- writing ---
  void write(const Selection& selection, const ArrayView& source, const WriteOptions& options = {});
  template <class T>
  void write(const Selection& selection, std::span<const T> source, const WriteOptions& options = {}) {
    write_flat(selection, data_type_of<T>(), reinterpret_cast<const std::byte*>(source.data()), source.size(),
               options);
  }
  template <class T>
  void write(const Selection& selection, const std::vector<T>& source, const WriteOptions& options = {}) {
    write(selection, std::span<const T>(source), options);
  }
  template <class T>
  void write(const Selection& selection, const TypedArray<T>& source, const WriteOptions& options = {}) {
    write(selection, source.view(), options);
  }
  // One element everywhere; `value` is in fill-value JSON form.
  void write_value(const Selection& selection, const Json& value, const WriteOptions& options = {});

  // --- other shapes. Other Array objects of the same array keep the shape they were opened with ---
  // Gives every dimension a new length, and writes the metadata. Elements that come anew are fill; those that fall outside are gone: chunks
  // outside are erased, and in chunks that reach outside the elements there are set to fill, so that they do not come back when the array grows
  // again. Costs what there is of such chunks. A rectilinear dimension that becomes too short gets one more chunk for what is missing.
  void resize(Shape shape, const WriteOptions& options = {});
  // Adds `source` behind the end along `axis` (negative: counted from the last dimension); its other lengths are those of the array.
  // Gives the new shape. The metadata is written last: readers see all of the new elements or none. Not for several writers at a time.
  Shape append(const ArrayView& source, std::ptrdiff_t axis = 0, const WriteOptions& options = {});
  template <class T>
  Shape append(const TypedArray<T>& source, std::ptrdiff_t axis = 0, const WriteOptions& options = {}) {
    return append(source.view(), axis, options);
  }
  // As many whole steps along the axis as the elements make, in C order.
  template <class T>
  Shape append(std::span<const T> source, std::ptrdiff_t axis = 0, const WriteOptions& options = {}) {
    return append_flat(data_type_of<T>(), reinterpret_cast<const std::byte*>(source.data()), source.size(),
                       axis, options);
  }
  template <class T>
  Shape append(const std::vector<T>& source, std::ptrdiff_t axis = 0, const WriteOptions& options = {}) {
    return append(std::span<const T>(source), axis, options);
  }

  // --- parts of chunks, as the caller lists them: one batch, the same ways as reads and writes of a selection take ---
  // Gives for each entry whether its chunk is stored (true for empty parts, which ask nothing). Error(out_of_bounds) when a chunk is outside
  // the grid, a part reaches out of its chunk or the array, or a place out of the output; Error(invalid_argument) when the output has another
  // number of dimensions, or elements of variable length and a place twice. Of other types a place that comes twice gets either element.
  std::vector<bool> read_parts(std::span<const ChunkAccess> parts, const ArrayView& output,
                               const ReadOptions& options = {}) const;
  // Errors likewise. A chunk may come more than once: its parts are written in order, and the last one wins.
  void write_parts(std::span<const ChunkAccess> parts, const ArrayView& source,
                   const WriteOptions& options = {});

  // --- whole chunks, by grid index ---
  // The full chunk, also past the array's end; fill when it is not stored. Error(out_of_bounds) for an index outside the grid.
  NDArray read_chunk(std::span<const std::uint64_t> index, const ReadOptions& options = {}) const;
  void write_chunk(std::span<const std::uint64_t> index, const ArrayView& chunk,
                   const WriteOptions& options = {});
  // The stored bytes as they are; nullopt when the chunk is not stored.
  std::optional<Buffer> read_encoded_chunk(std::span<const std::uint64_t> index) const;
  void write_encoded_chunk(std::span<const std::uint64_t> index, Buffer encoded);
  void erase_chunk(std::span<const std::uint64_t> index);
  bool chunk_exists(std::span<const std::uint64_t> index) const;
  std::string chunk_key(std::span<const std::uint64_t> index) const;  // store key, below the store's root
  // Of an array with shards: the shape of the chunks in them; nullopt without.
  std::optional<Shape> inner_chunk_shape() const;
  // A shard as a read-only store of its inner chunks, and at the same time as an array of its own ("zarr.json", "c/0/1", ...). A shard that
  // is not stored has no chunks. Error(invalid_argument) when the array has no shards, Error(unsupported) when they are compressed as a whole.
  std::shared_ptr<Store> open_shard(std::span<const std::uint64_t> index) const;
  // How many chunks are stored: counts keys of this array's chunks, by listing.
  std::uint64_t stored_chunk_count() const;

  // The codec chain. Error(unsupported_codec) when it has a codec that is not there; the rest of the array stays usable.
  const CodecChain& codec_chain() const;

 private:
  friend class ShapeCut;
  ArrayParts parts() const;
  MemoCache& memos() const;
  ArrayMetadata with_shape(const Shape& shape) const;
  Shape append_flat(const DataType& type, const std::byte* data, std::size_t count, std::ptrdiff_t axis,
                    const WriteOptions& options);
  NDArray read_as(const DataType& type, const Selection& selection, const ReadOptions& options) const;
  void read_flat(const Selection& selection, const DataType& type, std::byte* data, std::size_t count,
                 const ReadOptions& options) const;
  void write_flat(const Selection& selection, const DataType& type, const std::byte* data, std::size_t count,
                  const WriteOptions& options);
  void check_chunk_index(std::span<const std::uint64_t> index) const;
  Context chunk_context(std::span<const std::uint64_t> index) const;

  std::shared_ptr<Store> store_;
  std::string path_;
  std::shared_ptr<const ArrayMetadata> metadata_;
  struct LazyChain;
  std::shared_ptr<LazyChain> chain_;
  std::shared_ptr<MemoCache> memos_;  // indexes of shards
};

// Takes "float32", "<f4", DataType(TypeId::float32), ...
struct ZARRIVE_API DataTypeArgument {
  DataType type = DataType(TypeId::float64);
  DataTypeArgument() = default;
  DataTypeArgument(DataType value) : type(std::move(value)) {}
  DataTypeArgument(const char* name) : type(DataType::parse(name)) {}
  DataTypeArgument(const std::string& name) : type(DataType::parse(name)) {}
};

// A list of codecs, or none given: {codecs::transpose({1, 0}), codecs::zstd(3)}. An empty vector is a list without codecs.
class CodecList {
 public:
  CodecList() = default;  // not given
  CodecList(std::initializer_list<CodecSpec> codecs) : codecs_(codecs) {}
  CodecList(std::vector<CodecSpec> codecs) : codecs_(std::move(codecs)) {}
  explicit operator bool() const noexcept { return codecs_.has_value(); }
  const std::vector<CodecSpec>& operator*() const { return *codecs_; }
  std::vector<CodecSpec>* operator->() { return &*codecs_; }

 private:
  std::optional<std::vector<CodecSpec>> codecs_;
};

struct OpenOptions {
  MetadataOptions metadata = {};
  std::optional<ZarrFormat> format = {};  // only this one; absent: what is there, v3 before v2
  OpenMode mode = OpenMode::read;         // of the store, when a URL is opened
};

struct CreateOptions {
  Shape shape = {};
  DataTypeArgument data_type = {};
  Shape chunks = {};  // empty: chosen so that a chunk has about a mebibyte
  Shape shards =
      {};  // v3: chunks are kept in shards of this shape, each edge a multiple of the chunk's; `codecs` are the chunks' own
  std::optional<ChunkGrid> chunk_grid = {};  // instead of chunks, for rectilinear grids
  ZarrFormat format = ZarrFormat::v3;
  // v3. Without an array-to-bytes codec in it the usual one for the type is put in its place. Absent: as zarr-python 3 (zstd level 0).
  CodecList codecs = {};
  // v2. Absent: as zarr-python 3 (zstd level 0; the object codec that the type needs). An id "" as compressor: none.
  CodecList filters = {};
  std::optional<CodecSpec> compressor = {};
  char order = 'C';  // v2
  std::optional<Json> fill_value =
      {};  // in the format's JSON form; absent: the type's default. v2: null for undefined
  std::optional<ChunkKeyEncoding> chunk_key_encoding = {};
  std::vector<std::optional<std::string>> dimension_names =
      {};  // v2: written as the attribute _ARRAY_DIMENSIONS
  JsonObject attributes = {};
  bool overwrite = false;  // erase what is at the path first
  MetadataOptions metadata = {};
};

// The array at `path` in a store. Error(not_found) when there is no node, Error(invalid_argument) when it is a group.
ZARRIVE_API Array open_array(std::shared_ptr<Store> store, std::string_view path = {},
                             const OpenOptions& options = {});
// `url` as open_store takes it.
ZARRIVE_API Array open_array(std::string_view url, std::string_view path = {},
                             const OpenOptions& options = {});

// Writes the metadata of a new array, and of groups above it that are not there yet. Error(already_exists) unless overwrite.
ZARRIVE_API Array create_array(std::shared_ptr<Store> store, std::string_view path,
                               const CreateOptions& options);
ZARRIVE_API Array create_array(std::string_view url, std::string_view path, const CreateOptions& options);
// The same from finished metadata.
ZARRIVE_API Array create_array(std::shared_ptr<Store> store, std::string_view path, ArrayMetadata metadata,
                               bool overwrite = false);

// The metadata that create_array would write.
ZARRIVE_API ArrayMetadata make_metadata(const CreateOptions& options);
// The same array in the other format: types, fill value, codecs and grid carried over, so that encoded chunks may be copied when `chunks_stay`
// comes back true. Error(unsupported) names what the other format cannot say.
ZARRIVE_API ArrayMetadata convert_format(const ArrayMetadata& metadata, ZarrFormat format,
                                         bool* chunks_stay = nullptr);

}  // namespace zarrive
