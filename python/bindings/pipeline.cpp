// What a codec pipeline of zarr-python needs: reads and writes of a list of chunks, each with NumPy selections of the chunk and of one array, and
// chunks decoded and encoded by themselves. The metadata says of what type the elements are, which codecs they go through and what is not stored;
// where chunks are, and of which shape, the caller says.
#include <mutex>

#include "arrays.hpp"
#include "chunk_selections.hpp"
#include "elements.hpp"
#include "memory.hpp"
#include "stores.hpp"

namespace zarrive::python {
namespace {

constinit Imported empty("numpy", "empty");

ArrayMetadata metadata_of(const std::string& document, const std::optional<std::string>& zattrs) {
  const Json json = Json::parse(document);
  const Json* format = json.find("zarr_format");
  if (format && *format == Json(2))
    return ArrayMetadata::from_v2(json, zattrs ? Json::parse(*zattrs) : Json());
  return ArrayMetadata::from_v3(json);
}

class ArrayPipeline {
 public:
  ArrayPipeline(const std::string& document, const std::optional<std::string>& zattrs)
      : array_(std::make_shared<MemoryStore>(), "", metadata_of(document, zattrs)),
        metadata_(std::make_shared<const ArrayMetadata>(array_.metadata())) {
    array_.codec_chain();  // unknown codecs are errors now
  }

  const Array& array() const { return array_; }
  const DataType& type() const { return array_.data_type(); }
  const std::shared_ptr<const ArrayMetadata>& metadata() const { return metadata_; }

  // The array on a store. The last one is kept with what it knows of its shards; not those of stores that live for one call.
  Array on(const StoreHandle& store) {
    const std::lock_guard lock(mutex_);
    if (kept_ && kept_->store() == store.store) return *kept_;
    Array array = array_.with_store(store.store, "");
    if (store.spec.is_valid() && !store.spec.is_none()) kept_ = array;
    return array;
  }

  // Called with the GIL, which guards it.
  ElementForm form(nb::handle dtype) {
    if (!dtype_.is(dtype)) {
      form_ = form_of(dtype, type());
      dtype_ = nb::borrow(dtype);
    }
    return form_;
  }

 private:
  const Array array_;
  const std::shared_ptr<const ArrayMetadata> metadata_;
  std::mutex mutex_;
  std::optional<Array> kept_;
  nb::object dtype_;
  ElementForm form_;
};

// The grid index at the end of a key, after the path of a node; empty when there is none.
Index index_of(const std::string& key, const ArrayMetadata& metadata) {
  for (std::size_t at = 0;; ++at) {
    if (auto index =
            metadata.chunk_key_encoding.parse(std::string_view(key).substr(at), metadata.shape.size()))
      return *index;
    at = key.find('/', at);
    if (at == std::string::npos) return {};
  }
}

// The list that Python gives: (key, chunk_shape, chunk_selection, out_selection), and perhaps whether that is all of the chunk.
std::vector<ChunkAccess> accesses_of(nb::handle items, PartMaker& parts, const ArrayMetadata& metadata) {
  std::vector<ChunkAccess> accesses;
  nb::object last_shape;
  Shape shape;
  for (nb::handle item : nb::iter(items)) {
    if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) < 4 || PyTuple_GET_SIZE(item.ptr()) > 5)
      throw nb::type_error(
          "an entry is a tuple (key, chunk_shape, chunk_selection, out_selection[, is_complete])");
    const auto entry = [&](Py_ssize_t i) { return nb::handle(PyTuple_GET_ITEM(item.ptr(), i)); };
    ChunkAccess& access = accesses.emplace_back();
    access.key = nb::cast<std::string>(entry(0));
    access.chunk = index_of(*access.key, metadata);
    if (!last_shape.is(entry(1))) {
      shape = to_shape(entry(1));
      last_shape = nb::borrow(entry(1));
      if (shape.size() != metadata.shape.size())
        throw nb::value_error(("a chunk of " + std::to_string(shape.size()) +
                               " dimensions is none of an array of " + std::to_string(metadata.shape.size()))
                                  .c_str());
    }
    access.chunk_shape = shape;
    access.part = parts.part(entry(2), entry(3), shape);
    if (PyTuple_GET_SIZE(item.ptr()) == 5 && nb::cast<bool>(entry(4))) access.covers = true;
  }
  return accesses;
}

std::uint64_t places(std::span<const ChunkAccess> accesses) {
  std::uint64_t count = 0;
  for (const ChunkAccess& access : accesses) count += access.part.size();
  return count;
}

nb::list read(ArrayPipeline& pipeline, const StoreHandle& store, nb::handle items, nb::handle out,
              nb::handle drop_axes, const std::optional<ReadOptions>& given) {
  const Array array = pipeline.on(store);
  const Interface interface = interface_of(out);
  if (interface.read_only) throw nb::value_error("the memory to read into is read-only");
  const ElementForm form = pipeline.form(out.attr("dtype"));
  PartMaker parts(interface.shape, drop_axes, false);
  const std::vector<ChunkAccess> accesses = accesses_of(items, parts, *pipeline.metadata());
  const bool variable = form.kind != ElementForm::Kind::same;
  if (!form.swapped.empty() && !interface.space.host_accessible())
    throw nb::value_error("elements in device memory have the machine's byte order");
  NDArray strings;
  if (variable) strings = NDArray::allocate(pipeline.type(), interface.shape);
  const ArrayView output =
      parts.seen_by_parts(variable ? strings.view() : view_of(interface, pipeline.type()));
  std::vector<bool> stored;
  run(output.nbytes(), [&](std::stop_token stop) {
    ReadOptions options = given.value_or(ReadOptions{});
    options.stop = stop;
    stored = array.read_parts(accesses, output, options);
    if (!form.swapped.empty()) swap_places(accesses, output, form.swapped);
  });
  const auto place = [&](nb::handle objects) {
    Interface memory = interface_of(objects);
    if (!memory.strides) memory.strides = c_strides(memory.shape, sizeof(PyObject*));
    ArrayView view = strings.view();
    view.data = memory.data;
    view.strides = *memory.strides;
    set_objects(accesses, output, parts.seen_by_parts(view));
  };
  if (form.kind == ElementForm::Kind::objects) {
    place(out);
  } else if (variable) {
    const nb::object objects = new_object_array(interface.shape);
    place(objects);
    if (places(accesses) == strings.size()) {
      out[nb::borrow(Py_Ellipsis)] = objects;
    } else {
      for (nb::handle item : nb::iter(items)) {
        const nb::object selection = item[3];
        out[selection] = objects[selection];
      }
    }
  }
  nb::list result;
  for (const bool found : stored) result.append(found);
  return result;
}

// An array's elements as the core has them, and what keeps them alive.
struct Elements {
  nb::object owner = {};
  NDArray strings = {};
  ArrayView view = {};
};

Elements elements_from(ArrayPipeline& pipeline, nb::handle value) {
  Elements elements;
  const ElementForm form = pipeline.form(value.attr("dtype"));
  if (form.kind != ElementForm::Kind::same) {
    elements.strings = elements_of(value, pipeline.type());
    elements.view = elements.strings.view();
    return elements;
  }
  elements.owner = nb::borrow(value);
  const bool scalar_on_device =
      nb::hasattr(value, "__cuda_array_interface__") && nb::cast<std::size_t>(value.attr("ndim")) == 0;
  if (scalar_on_device) elements.owner = value.attr("get")();
  else if (!form.swapped.empty())
    elements.owner = value.attr("astype")(value.attr("dtype").attr("newbyteorder")("="));
  elements.view = view_of(interface_of(elements.owner), pipeline.type());
  return elements;
}

void write(ArrayPipeline& pipeline, const StoreHandle& store, nb::handle items, nb::handle value,
           nb::handle drop_axes, std::optional<bool> write_empty_chunks,
           const std::optional<WriteOptions>& given) {
  Array array = pipeline.on(store);
  const Elements elements = elements_from(pipeline, value);
  PartMaker parts(elements.view.shape, drop_axes, elements.view.ndim() == 0);
  const std::vector<ChunkAccess> accesses = accesses_of(items, parts, *pipeline.metadata());
  const ArrayView source = parts.seen_by_parts(elements.view);
  run(multiply(places(accesses), pipeline.type().item_size(), "a write"), [&](std::stop_token stop) {
    WriteOptions options = given.value_or(WriteOptions{});
    if (write_empty_chunks) options.write_empty_chunks = *write_empty_chunks;
    options.stop = stop;
    array.write_parts(accesses, source, options);
  });
}

nb::list decode(ArrayPipeline& pipeline, nb::handle items, nb::handle dtype) {
  struct Item {
    nb::object array = {};
    Buffer encoded = {};
    NDArray strings = {};
    ArrayView view = {};
    std::shared_ptr<const BoundChain> chain = {};
  };
  const ElementForm form = pipeline.form(dtype);
  const bool variable = form.kind != ElementForm::Kind::same;
  std::vector<Item> chunks;
  std::uint64_t bytes = 0;
  for (nb::handle given : nb::iter(items)) {
    Item& item = chunks.emplace_back();
    const nb::object encoded = given[0];
    if (encoded.is_none()) continue;
    item.encoded = buffer_of(encoded);
    const Shape shape = to_shape(given[1]);
    item.chain = pipeline.array().codec_chain().bind(shape);
    item.chain->check_encoded_size(item.encoded.size());
    if (variable) {
      item.strings = NDArray::allocate(pipeline.type(), shape);
      item.view = item.strings.view();
    } else {
      item.array = empty(to_tuple(shape), dtype);
      item.view = view_of(interface_of(item.array), pipeline.type());
    }
    bytes = add(bytes, item.view.nbytes(), "chunks to decode");
  }
  run(bytes, [&](std::stop_token stop) {
    Executor::global().parallel_for(chunks.size(),
                                    [&](std::size_t i) {
                                      const Item& item = chunks[i];
                                      if (!item.chain) return;
                                      Context context;
                                      context.array = pipeline.metadata();
                                      context.chunk_shape = item.view.shape;
                                      item.chain->decode(item.encoded, item.view, context);
                                      if (!form.swapped.empty()) swap_all(item.view, form.swapped);
                                    },
                                    {.max_concurrency = 0, .stop = stop});
  });
  nb::list result;
  for (Item& item : chunks) {
    if (!item.chain) {
      result.append(nb::none());
      continue;
    }
    if (variable) {
      item.array = new_object_array(item.view.shape);
      ArrayView objects = item.view;
      objects.data = interface_of(item.array).data;
      objects.strides = c_strides(objects.shape, sizeof(PyObject*));
      ChunkAccess all;
      all.part = ChunkPart::all_of(item.view.shape);
      set_objects({&all, 1}, item.view, objects);
      if (form.kind == ElementForm::Kind::strings) item.array = item.array.attr("astype")(dtype);
    }
    result.append(item.array);
  }
  return result;
}

nb::list encode(ArrayPipeline& pipeline, nb::handle items, bool write_empty_chunks,
                const std::optional<std::string>& shard_order) {
  struct Item {
    Elements elements = {};
    std::shared_ptr<const BoundChain> chain = {};
    Buffer encoded = {};
  };
  const ShardOrder order = shard_order_of(shard_order.value_or("C"));
  std::vector<Item> chunks;
  std::uint64_t bytes = 0;
  for (nb::handle array : nb::iter(items)) {
    Item& item = chunks.emplace_back();
    if (array.is_none()) continue;
    item.elements = elements_from(pipeline, array);
    if (!item.elements.view.space.host_accessible())
      throw nb::value_error("chunks to encode are in host memory");
    item.chain = pipeline.array().codec_chain().bind(item.elements.view.shape);
    bytes = add(bytes, item.elements.view.nbytes(), "chunks to encode");
  }
  run(bytes, [&](std::stop_token stop) {
    Executor::global().parallel_for(chunks.size(),
                                    [&](std::size_t i) {
                                      Item& item = chunks[i];
                                      if (!item.chain) return;
                                      Context context;
                                      context.array = pipeline.metadata();
                                      context.chunk_shape = item.elements.view.shape;
                                      context.write_empty_chunks = write_empty_chunks;
                                      context.shard_order = order;
                                      item.encoded = item.chain->encode(item.elements.view, context);
                                    },
                                    {.max_concurrency = 0, .stop = stop});
  });
  nb::list result;
  for (Item& item : chunks) {
    if (item.chain) result.append(nb::cast(std::move(item.encoded)));
    else result.append(nb::none());
  }
  return result;
}

}  // namespace

void bind_pipeline(nb::module_& m) {
  nb::class_<ArrayPipeline>(
      m, "ArrayPipeline",
      "The elements and codecs of an array, without a store: what a codec pipeline of zarr-python needs. "
      "`metadata_json` is zarr.json (or .zarray); its shape and chunk grid do not matter, save for the "
      "number of "
      "dimensions. Another fill value is another pipeline.")
      .def(nb::init<const std::string&, const std::optional<std::string>&>(), nb::arg("metadata_json"),
           nb::arg("zattrs_json") = nb::none())
      .def_prop_ro("data_type", [](const ArrayPipeline& p) { return p.type(); })
      .def("read", &read, nb::arg("store"), nb::arg("items"), nb::arg("out"),
           nb::arg("drop_axes") = nb::make_tuple(), nb::arg("options") = nb::none(),
           "Reads (key, chunk_shape, chunk_selection, out_selection[, is_complete]) of each item into `out`, "
           "in one batch. Gives for each "
           "whether its chunk is stored; the places of missing ones get the fill value. `out`: a NumPy array "
           "of any strides and byte "
           "order, of strings or objects for variable-length types, or an array in device memory.")
      .def("write", &write, nb::arg("store"), nb::arg("items"), nb::arg("value"),
           nb::arg("drop_axes") = nb::make_tuple(), nb::arg("write_empty_chunks") = nb::none(),
           nb::arg("options") = nb::none(),
           "Writes likewise from `value`, or from its one element when it is 0-d. A chunk that comes twice "
           "is written in order.")
      .def("decode", &decode, nb::arg("items"), nb::arg("dtype"),
           "A NumPy array of this dtype for each (bytes or None, chunk_shape); None for None.")
      .def("encode", &encode, nb::arg("arrays"), nb::arg("write_empty_chunks") = true,
           nb::arg("shard_order") = nb::none(),
           "A Buffer for each array; None for None. Chunks of nothing but fill are encoded too; inner chunks "
           "of a shard that are so "
           "only when `write_empty_chunks`.");
}

}  // namespace zarrive::python
