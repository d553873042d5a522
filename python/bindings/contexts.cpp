#include "contexts.hpp"

#include "memory.hpp"
#include "metadata.hpp"

namespace zarrive::python {
namespace {

// The array's part of a context, by members of its own: enough metadata for codecs and stores that ask.
std::shared_ptr<const ArrayMetadata> array_of(nb::handle shape, nb::handle dtype, nb::handle fill_value,
                                              nb::handle codecs) {
  if (shape.is_none() && dtype.is_none() && fill_value.is_none() && codecs.is_none()) return nullptr;
  auto array = std::make_shared<ArrayMetadata>();
  if (!shape.is_none()) array->shape = to_shape(shape);
  if (!dtype.is_none()) array->data_type = DataType::parse(nb::cast<std::string>(nb::str(dtype)));
  array->fill_value = fill_value.is_none() ? FillValue::zero(array->data_type)
                                           : FillValue::from_v3(from_python(fill_value), array->data_type);
  if (!codecs.is_none()) {
    const Json list = from_python(codecs);
    for (const Json& codec : list.as_array()) array->codecs.push_back(codec_spec_of(codec, false));
  }
  return array;
}

nb::object box_object(const std::optional<Box>& box) {
  if (!box) return nb::none();
  nb::list slices;
  for (std::size_t d = 0; d < box->start.size(); ++d)
    slices.append(nb::slice(static_cast<Py_ssize_t>(box->start[d]),
                            static_cast<Py_ssize_t>(box->start[d] + box->extent[d])));
  return nb::tuple(slices);
}

std::optional<Box> box_of(nb::handle slices) {
  if (slices.is_none()) return std::nullopt;
  Box box;
  for (nb::handle item : nb::iter(slices)) {
    const auto start =
        nb::cast<std::uint64_t>(item.attr("start").is_none() ? nb::int_(0) : nb::object(item.attr("start")));
    const auto stop = nb::cast<std::uint64_t>(item.attr("stop"));
    if (stop < start)
      throw nb::value_error("a selection of a context is a tuple of slices with start <= stop");
    box.start.push_back(start);
    box.extent.push_back(stop - start);
  }
  return box;
}

template <class T>
nb::object optional_tuple(const std::optional<T>& numbers) {
  return numbers ? nb::object(to_tuple(*numbers)) : nb::object(nb::none());
}

Context make_context(nb::handle prototype, nb::handle key, const std::string& node, nb::handle shape,
                     nb::handle dtype, nb::handle fill_value, nb::handle codecs, nb::handle chunk_index,
                     nb::handle chunk_shape, nb::handle chunk_selection, nb::handle output_selection,
                     std::optional<std::uint64_t> expected_size, nb::handle codec_parameters, int version) {
  Context context;
  context.version = version;
  if (!prototype.is_none()) context.prototype = prototype_of(prototype);
  if (!key.is_none()) context.key = nb::cast<std::string>(key);
  context.node = node;
  context.array = array_of(shape, dtype, fill_value, codecs);
  if (!chunk_index.is_none()) context.chunk_index = to_shape(chunk_index);
  if (!chunk_shape.is_none()) context.chunk_shape = to_shape(chunk_shape);
  context.chunk_selection = box_of(chunk_selection);
  context.output_selection = box_of(output_selection);
  context.expected_size = expected_size;
  if (!codec_parameters.is_none()) context.codec_parameters = from_python(codec_parameters);
  return context;
}

}  // namespace

nb::object context_object(const Context& context) {
  Context copy = context;
  // What belongs to the read that is going on, and must not outlive it.
  copy.destination.reset();
  copy.shard = nullptr;
  copy.device_read = nullptr;
  return nb::cast(std::move(copy));
}

ContextsArgument::ContextsArgument(nb::handle contexts, std::span<const std::string> keys) {
  if (contexts.is_none()) return;
  if (Context one; nb::try_cast<Context>(contexts, one)) {
    map_ = std::make_unique<ConstantMap>(keys, std::move(one));
    return;
  }
  auto map = std::make_unique<MapOfContexts>();
  const nb::object none = nb::none();
  const nb::object get = contexts.attr("get");
  for (const std::string& key : keys) {
    const nb::object context = get(key, none);
    if (!context.is_none()) map->set(key, nb::cast<Context>(context));
  }
  map_ = std::move(map);
}

void bind_contexts(nb::module_& m) {
  nb::class_<Context>(m, "Context",
                      "What is known about one key of a batch, handed to the store and to the codecs. Every "
                      "member is optional.\n\n"
                      "prototype: where the value is wanted: 'host', 'pinned' or 'cuda:N'. chunk_selection, "
                      "output_selection: tuples of slices.\n"
                      "codec_parameters: per-chunk parameters for codecs (a dict).")
      .def(
          "__init__",
          [](Context* self, nb::object prototype, nb::object key, std::string node, nb::object shape,
             nb::object dtype, nb::object fill_value, nb::object codecs, nb::object chunk_index,
             nb::object chunk_shape, nb::object chunk_selection, nb::object output_selection,
             std::optional<std::uint64_t> expected_size, nb::object codec_parameters, int version) {
            new (self) Context(make_context(prototype, key, node, shape, dtype, fill_value, codecs,
                                            chunk_index, chunk_shape, chunk_selection, output_selection,
                                            expected_size, codec_parameters, version));
          },
          nb::kw_only(), nb::arg("prototype") = nb::none(), nb::arg("key") = nb::none(), nb::arg("node") = "",
          nb::arg("shape") = nb::none(), nb::arg("dtype") = nb::none(), nb::arg("fill_value") = nb::none(),
          nb::arg("codecs") = nb::none(), nb::arg("chunk_index") = nb::none(),
          nb::arg("chunk_shape") = nb::none(), nb::arg("chunk_selection") = nb::none(),
          nb::arg("output_selection") = nb::none(), nb::arg("expected_size") = nb::none(),
          nb::arg("codec_parameters") = nb::none(), nb::arg("version") = 1)
      .def_ro("version", &Context::version)
      .def_prop_ro("prototype",
                   [](const Context& c) -> std::optional<std::string> {
                     if (!c.prototype) return std::nullopt;
                     return c.prototype->space.name();
                   })
      .def_prop_ro("key", [](const Context& c) { return c.key; })
      .def_ro("node", &Context::node)
      .def_prop_ro(
          "shape",
          [](const Context& c) { return c.array ? nb::object(to_tuple(c.array->shape)) : nb::none(); },
          "Of the array.")
      .def_prop_ro(
          "dtype",
          [](const Context& c) -> nb::object {
            return c.array ? nb::cast(c.array->data_type) : nb::object(nb::none());
          },
          "The array's data type, a DataType.")
      .def_prop_ro(
          "fill_value",
          [](const Context& c) -> nb::object {
            return c.array ? to_python(c.array->fill_value.to_v3()) : nb::object(nb::none());
          },
          "In its JSON form.")
      .def_prop_ro(
          "codecs",
          [](const Context& c) -> nb::object {
            if (!c.array) return nb::none();
            if (c.array->format == ZarrFormat::v2) {
              JsonArray list;
              for (const CodecSpec& filter : c.array->filters) list.push_back(to_json(filter));
              if (c.array->compressor) list.push_back(to_json(*c.array->compressor));
              return to_python(Json(std::move(list)));
            }
            JsonArray list;
            for (const CodecSpec& codec : c.array->codecs) list.push_back(to_json(codec));
            return to_python(Json(std::move(list)));
          },
          "The codec chain, as dicts with name and configuration; of v2 the filters, then the compressor.")
      .def_prop_ro("chunk_index", [](const Context& c) { return optional_tuple(c.chunk_index); })
      .def_prop_ro("chunk_shape", [](const Context& c) { return optional_tuple(c.chunk_shape); })
      .def_prop_ro("chunk_selection", [](const Context& c) { return box_object(c.chunk_selection); })
      .def_prop_ro("output_selection", [](const Context& c) { return box_object(c.output_selection); })
      .def_prop_ro("expected_size", [](const Context& c) { return c.expected_size; })
      .def_prop_rw(
          "codec_parameters", [](const Context& c) { return to_python(c.codec_parameters); },
          [](Context& c, nb::object parameters) { c.codec_parameters = from_python(parameters); },
          nb::arg().none());
}

}  // namespace zarrive::python
