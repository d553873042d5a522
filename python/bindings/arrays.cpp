// Arrays: the core's class, with selections and memory as Python has them. python/zarrive/array.py makes it pleasant.
#include "arrays.hpp"

#include "memory.hpp"
#include "metadata.hpp"
#include "selections.hpp"

namespace zarrive::python {
namespace {

CodecList codecs_of(nb::handle codecs, bool v2) {
  if (codecs.is_none()) return {};
  std::vector<CodecSpec> list;
  const Json json = from_python(codecs);
  for (const Json& codec : json.as_array()) list.push_back(codec_spec_of(codec, v2));
  return CodecList(std::move(list));
}

// The extents of a shape, and for a rectilinear grid the edges along each dimension.
nb::object grid_chunks(const ChunkGrid& grid) {
  return grid.is_regular() ? nb::object(to_tuple(grid.chunk_shape())) : nb::object(nb::none());
}

std::uint64_t bytes_of(const Array& array, const Selection& selection) {
  const std::uint64_t size = array.data_type().is_variable() ? 16 : array.data_type().item_size();
  return checked_multiply(element_count(array.result_shape(selection)), size).value_or(~std::uint64_t{0});
}

NDArray read(const ArrayHandle& a, nb::handle items, const std::string& kind, nb::handle fields,
             const ReadOptions& given) {
  const Selection selection = selection_of(items, kind, fields);
  NDArray result;
  run(bytes_of(a.array, selection), [&](std::stop_token stop) {
    ReadOptions options = given;
    options.stop = stop;
    result = a.array.read(selection, options);
  });
  return result;
}

// A NumPy array over the memory of what was read; of a 0-d result too.
nb::object numpy_array(NDArray&& elements, nb::handle dtype) {
  static constinit Imported ndarray("numpy", "ndarray");
  static constinit Imported empty("numpy", "empty");
  const nb::tuple shape = to_tuple(elements.shape());
  if (elements.size() == 0) return empty(shape, dtype);
  return ndarray(shape, dtype, nb::cast(std::move(elements)));
}

void read_into(const ArrayHandle& a, nb::handle items, const std::string& kind, nb::handle fields,
               nb::handle out, const DataType& type, const ReadOptions& given) {
  const Selection selection = selection_of(items, kind, fields);
  const Interface interface = interface_of(out, given.stream == nullptr);
  if (interface.read_only) throw nb::value_error("the memory to read into is read-only");
  const ArrayView view = view_of(interface, type);
  run(view.nbytes(), [&](std::stop_token stop) {
    ReadOptions options = given;
    options.stop = stop;
    a.array.read_into(selection, view, options);
  });
}

// Elements out of a NumPy array (or device memory) of the given type; of variable-length types out of a sequence of str or bytes with a shape.
struct Source {
  std::vector<std::string> strings = {};
  ArrayView view = {};
};

Source source_of(nb::handle value, const DataType& type, bool wait) {
  Source source;
  if (!type.is_variable()) {
    source.view = view_of(interface_of(value, wait), type);
    return source;
  }
  const Shape shape = to_shape(value[0]);
  for (nb::handle item : nb::iter(value[1])) {
    if (PyBytes_Check(item.ptr()))
      source.strings.emplace_back(PyBytes_AS_STRING(item.ptr()), PyBytes_GET_SIZE(item.ptr()));
    else source.strings.push_back(nb::cast<std::string>(item));
  }
  if (source.strings.size() != element_count(shape))
    throw nb::value_error("as many strings as the shape has elements are wanted");
  static std::string none;
  source.view = ArrayView(
      reinterpret_cast<std::byte*>(source.strings.empty() ? &none : source.strings.data()), type, shape);
  return source;
}

void write(ArrayHandle& a, nb::handle items, const std::string& kind, nb::handle fields, nb::handle value,
           const DataType& type, const WriteOptions& given) {
  const Selection selection = selection_of(items, kind, fields);
  const Source source = source_of(value, type, given.stream == nullptr);
  run(source.view.nbytes(), [&](std::stop_token stop) {
    WriteOptions options = given;
    options.stop = stop;
    a.array.write(selection, source.view, options);
  });
}

// Iterates over the blocks of a selection.
struct BlockIterator {
  ArrayHandle array;
  BlockRange range;
  std::optional<BlockRange::Iterator> at;
};

nb::object slices_or_arrays(const Selection& selection) {
  nb::list items;
  for (const SelectionItem& item : selection.items()) {
    if (const auto* position = std::get_if<std::int64_t>(&item)) items.append(*position);
    else if (const auto* slice = std::get_if<Slice>(&item)) {
      auto bound = [](const std::optional<std::int64_t>& b) {
        return b ? nb::object(nb::int_(*b)) : nb::object(nb::none());
      };
      items.append(nb::steal(
          PySlice_New(bound(slice->start).ptr(), bound(slice->stop).ptr(), bound(slice->step).ptr())));
    } else if (std::holds_alternative<Ellipsis>(item)) items.append(nb::borrow(Py_Ellipsis));
    else if (const auto* list = std::get_if<IntegerArray>(&item)) {
      nb::list positions;
      for (const std::int64_t p : list->positions()) positions.append(p);
      items.append(positions);
    }
  }
  return nb::tuple(items);
}

}  // namespace

ShardOrder shard_order_of(const std::string& name) {
  if (name == "C") return ShardOrder::c_order;
  if (name == "morton") return ShardOrder::morton;
  if (name == "F") return ShardOrder::f_order;
  throw nb::value_error("the order of inner chunks in a shard is 'C', 'F' or 'morton'");
}

CreateOptions create_options(const nb::dict& given) {
  CreateOptions options;
  auto has = [&](const char* name) { return given.contains(name) && !nb::object(given[name]).is_none(); };
  const bool v2 = has("zarr_format") && nb::cast<int>(given["zarr_format"]) == 2;
  options.format = v2 ? ZarrFormat::v2 : ZarrFormat::v3;
  options.shape = to_shape(given["shape"]);
  options.data_type.type = nb::cast<DataType>(given["data_type"]);
  if (has("chunks")) options.chunks = to_shape(given["chunks"]);
  if (has("shards")) options.shards = to_shape(given["shards"]);
  if (has("chunk_grid")) {
    options.chunk_grid = ChunkGrid::from_json(from_python(given["chunk_grid"]), options.shape.size());
  }
  if (has("codecs")) options.codecs = codecs_of(given["codecs"], false);
  if (has("filters")) options.filters = codecs_of(given["filters"], true);
  if (has("compressor")) options.compressor = codec_spec_of(from_python(given["compressor"]), true);
  if (has("order")) options.order = nb::cast<std::string>(given["order"]).at(0);
  if (given.contains("fill_value_json")) options.fill_value = from_python(given["fill_value_json"]);
  if (has("chunk_key_encoding"))
    options.chunk_key_encoding = ChunkKeyEncoding::from_json(from_python(given["chunk_key_encoding"]));
  if (has("dimension_separator"))
    options.chunk_key_encoding = ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2,
                                                  nb::cast<std::string>(given["dimension_separator"]).at(0)};
  if (has("dimension_names"))
    options.dimension_names = nb::cast<std::vector<std::optional<std::string>>>(given["dimension_names"]);
  if (has("attributes")) options.attributes = from_python(given["attributes"]).as_object();
  if (has("overwrite")) options.overwrite = nb::cast<bool>(given["overwrite"]);
  return options;
}

std::optional<ZarrFormat> format_of(const std::optional<int>& format) {
  if (!format) return std::nullopt;
  if (*format == 2) return ZarrFormat::v2;
  if (*format == 3) return ZarrFormat::v3;
  throw nb::value_error("zarr_format is 2 or 3");
}

void bind_arrays(nb::module_& m) {
  nb::class_<ReadOptions>(m, "ReadOptions", "How an array is read.")
      .def(nb::init<>())
      .def(nb::init<const ReadOptions&>())
      .def_prop_rw(
          "prototype",
          [](const ReadOptions& o) { return o.prototype ? o.prototype->space.name() : std::string("host"); },
          [](ReadOptions& o, nb::object name) {
            if (name.is_none()) o.prototype.reset();
            else o.prototype = prototype_of(name);
          },
          nb::arg().none())
      .def_rw("convert", &ReadOptions::convert)
      .def_rw("max_concurrency", &ReadOptions::max_concurrency)
      .def_rw("max_bytes_in_flight", &ReadOptions::max_bytes_in_flight)
      .def_rw("verify_checksums", &ReadOptions::verify_checksums)
      .def_rw("coalesce_gap", &ReadOptions::coalesce_gap)
      .def_rw("coalesce_limit", &ReadOptions::coalesce_limit)
      .def_rw("max_device_bytes", &ReadOptions::max_device_bytes)
      .def_prop_rw(
          "stream", [](const ReadOptions& o) { return reinterpret_cast<std::uintptr_t>(o.stream); },
          [](ReadOptions& o, std::uintptr_t stream) { o.stream = reinterpret_cast<void*>(stream); })
      .def_prop_rw(
          "device_decode",
          [](const ReadOptions& o) {
            return o.device_decode == gpu::DeviceDecode::always  ? "always"
                   : o.device_decode == gpu::DeviceDecode::never ? "never"
                                                                 : "automatic";
          },
          [](ReadOptions& o, const std::string& name) {
            if (name == "automatic") o.device_decode = gpu::DeviceDecode::automatic;
            else if (name == "always") o.device_decode = gpu::DeviceDecode::always;
            else if (name == "never") o.device_decode = gpu::DeviceDecode::never;
            else throw nb::value_error("device_decode is 'automatic', 'always' or 'never'");
          });
  nb::class_<WriteOptions>(m, "WriteOptions", "How an array is written.")
      .def(nb::init<>())
      .def(nb::init<const WriteOptions&>())
      .def_rw("convert", &WriteOptions::convert)
      .def_rw("write_empty_chunks", &WriteOptions::write_empty_chunks)
      .def_rw("max_concurrency", &WriteOptions::max_concurrency)
      .def_rw("max_bytes_in_flight", &WriteOptions::max_bytes_in_flight)
      .def_prop_rw(
          "shard_order",
          [](const WriteOptions& o) {
            return o.shard_order == ShardOrder::morton    ? "morton"
                   : o.shard_order == ShardOrder::f_order ? "F"
                                                          : "C";
          },
          [](WriteOptions& o, const std::string& name) { o.shard_order = shard_order_of(name); })
      .def_prop_rw(
          "stream", [](const WriteOptions& o) { return reinterpret_cast<std::uintptr_t>(o.stream); },
          [](WriteOptions& o, std::uintptr_t stream) { o.stream = reinterpret_cast<void*>(stream); });

  nb::class_<BlockIterator>(m, "BlockIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__len__", [](const BlockIterator& i) { return i.range.size(); })
      .def("__next__", [](BlockIterator& i) {
        Block block;
        bool over = false;
        {
          nb::gil_scoped_release release;
          if (!i.at) i.at = i.range.begin();
          else ++*i.at;
          over = *i.at == i.range.end();
          if (!over) block = std::move(**i.at);
        }
        if (over) throw nb::stop_iteration();
        return nb::make_tuple(nb::cast(std::move(block.data)), slices_or_arrays(block.selection),
                              slices_or_arrays(block.place), to_tuple(block.chunk));
      });

  nb::class_<ArrayHandle>(m, "Array", "An array of a store. See zarrive.Array.")
      .def_prop_ro("store", [](const ArrayHandle& a) { return a.store; })
      .def_prop_ro("path", [](const ArrayHandle& a) { return a.array.path(); })
      .def_prop_ro("shape", [](const ArrayHandle& a) { return to_tuple(a.array.shape()); })
      .def_prop_ro("data_type", [](const ArrayHandle& a) { return a.array.data_type(); })
      .def_prop_ro("zarr_format",
                   [](const ArrayHandle& a) { return static_cast<int>(a.array.metadata().format); })
      .def_prop_ro(
          "grid_chunks", [](const ArrayHandle& a) { return grid_chunks(a.array.metadata().chunk_grid); },
          "The chunk shape of a regular grid (of a sharded array the shards'); None of a rectilinear one.")
      .def_prop_ro("inner_chunks",
                   [](const ArrayHandle& a) -> nb::object {
                     const auto inner = a.array.inner_chunk_shape();
                     return inner ? nb::object(to_tuple(*inner)) : nb::object(nb::none());
                   })
      .def_prop_ro("grid_shape", [](const ArrayHandle& a) { return to_tuple(a.array.grid_shape()); })
      .def_prop_ro("attributes", [](const ArrayHandle& a) { return to_python(a.array.attributes()); })
      .def(
          "set_attributes",
          [](ArrayHandle& a, nb::object attributes) {
            JsonObject object = from_python(attributes).as_object();
            nb::gil_scoped_release release;
            a.array.set_attributes(std::move(object));
          },
          nb::arg("attributes"))
      .def_prop_ro("dimension_names",
                   [](const ArrayHandle& a) -> nb::object {
                     if (a.array.metadata().dimension_names.empty()) return nb::none();
                     nb::list names;
                     for (const auto& name : a.array.metadata().dimension_names)
                       names.append(name ? nb::object(nb::str(name->c_str())) : nb::object(nb::none()));
                     return nb::tuple(names);
                   })
      .def_prop_ro("fill_value_undefined",
                   [](const ArrayHandle& a) { return a.array.metadata().fill_value.is_undefined(); })
      .def_prop_ro(
          "fill_value_element",
          [](const ArrayHandle& a) {
            NDArray element = NDArray::allocate(a.array.data_type(), {});
            fill(element.view(), a.array.metadata().fill_value);
            return element;
          },
          "The fill value as a 0-d array.")
      .def_prop_ro(
          "documents", [](const ArrayHandle& a) { return documents_of(a.array.metadata().to_documents()); },
          "The metadata documents as they are stored, by file name.")
      .def(
          "result_shape",
          [](const ArrayHandle& a, nb::object items, const std::string& kind, nb::object fields) {
            return to_tuple(a.array.result_shape(selection_of(items, kind, fields)));
          },
          nb::arg("selection"), nb::arg("kind") = "basic", nb::arg("fields") = nb::none())
      .def(
          "result_type",
          [](const ArrayHandle& a, nb::object fields) {
            return a.array.result_type(selection_of(nb::make_tuple(), "basic", fields));
          },
          nb::arg("fields") = nb::none())
      .def(
          "read",
          [](const ArrayHandle& a, nb::object items, const std::string& kind, nb::object fields,
             const ReadOptions& options) { return read(a, items, kind, fields, options); },
          nb::arg("selection"), nb::arg("kind"), nb::arg("fields").none(), nb::arg("options"),
          "Into new memory.")
      .def(
          "read_numpy",
          [](const ArrayHandle& a, nb::object items, const std::string& kind, nb::object fields,
             const ReadOptions& options,
             nb::object dtype) { return numpy_array(read(a, items, kind, fields, options), dtype); },
          nb::arg("selection"), nb::arg("kind"), nb::arg("fields").none(), nb::arg("options"),
          nb::arg("dtype"), "Into a new NumPy array of this dtype, whose memory is ours.")
      .def("read_into", &read_into, nb::arg("selection"), nb::arg("kind"), nb::arg("fields").none(),
           nb::arg("out"), nb::arg("data_type"), nb::arg("options"),
           "Into memory that `out` has (any strides, host or device), whose elements are of `data_type`.")
      .def("write", &write, nb::arg("selection"), nb::arg("kind"), nb::arg("fields").none(), nb::arg("value"),
           nb::arg("data_type"), nb::arg("options"),
           "From an array of the selection's shape; of variable-length types from (shape, strings).")
      .def(
          "resize",
          [](ArrayHandle& a, nb::object shape) {
            const Shape extents = to_shape(shape);
            run(~std::uint64_t{0}, [&](std::stop_token stop) { a.array.resize(extents, {.stop = stop}); });
          },
          nb::arg("shape"))
      .def(
          "append",
          [](ArrayHandle& a, nb::object value, const DataType& type, std::ptrdiff_t axis,
             const WriteOptions& given) {
            const Source source = source_of(value, type, given.stream == nullptr);
            Shape shape;
            run(source.view.nbytes(), [&](std::stop_token stop) {
              WriteOptions options = given;
              options.stop = stop;
              shape = a.array.append(source.view, axis, options);
            });
            return to_tuple(shape);
          },
          nb::arg("value"), nb::arg("data_type"), nb::arg("axis"), nb::arg("options"))
      .def(
          "blocks",
          [](const ArrayHandle& a, nb::object items, const std::string& kind, nb::object fields,
             const ReadOptions& options, std::size_t read_ahead) {
            BlockOptions block_options;
            block_options.read = options;
            block_options.read_ahead = read_ahead;
            return BlockIterator{a, a.array.blocks(selection_of(items, kind, fields), block_options),
                                 std::nullopt};
          },
          nb::arg("selection"), nb::arg("kind"), nb::arg("fields").none(), nb::arg("options"),
          nb::arg("read_ahead") = 4)
      .def(
          "chunk_key", [](const ArrayHandle& a, const Index& index) { return a.array.chunk_key(index); },
          nb::arg("index"))
      .def(
          "chunk_exists",
          [](const ArrayHandle& a, const Index& index) { return a.array.chunk_exists(index); },
          nb::arg("index"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "erase_chunk", [](ArrayHandle& a, const Index& index) { a.array.erase_chunk(index); },
          nb::arg("index"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "read_encoded_chunk",
          [](const ArrayHandle& a, const Index& index) { return a.array.read_encoded_chunk(index); },
          nb::arg("index"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "write_encoded_chunk",
          [](ArrayHandle& a, const Index& index, nb::object value) {
            Buffer bytes = buffer_of(value);
            nb::gil_scoped_release release;
            a.array.write_encoded_chunk(index, std::move(bytes));
          },
          nb::arg("index"), nb::arg("value"))
      .def(
          "open_shard",
          [](const ArrayHandle& a, const Index& index) {
            return StoreHandle{a.array.open_shard(index), nb::none()};
          },
          nb::arg("index"))
      .def(
          "stored_chunk_count", [](const ArrayHandle& a) { return a.array.stored_chunk_count(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def("__reduce__", [](const ArrayHandle& a) {
        return nb::make_tuple(
            nb::module_::import_("zarrive._unpickle").attr("array"),
            nb::make_tuple(a.store, a.array.path(), static_cast<int>(a.array.metadata().format)));
      });

  m.def(
      "open_array",
      [](const StoreHandle& store, const std::string& path, std::optional<int> format) {
        OpenOptions options;
        options.format = format_of(format);
        return ArrayHandle{without_gil([&] { return open_array(store.store, path, options); }), store};
      },
      nb::arg("store"), nb::arg("path") = "", nb::arg("zarr_format") = nb::none());
  m.def(
      "create_array",
      [](const StoreHandle& store, const std::string& path, nb::dict given) {
        CreateOptions options = create_options(given);
        return ArrayHandle{without_gil([&] { return create_array(store.store, path, options); }), store};
      },
      nb::arg("store"), nb::arg("path"), nb::arg("options"));
}

}  // namespace zarrive::python
