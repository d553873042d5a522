// Codecs written in Python, each call with the context of its chunk.
#include "contexts.hpp"
#include "memory.hpp"

namespace zarrive::python {
namespace {

// A codec's own code; `code` is for what it raises, but for a lack of memory.
template <class Body>
auto with_python(const std::string& codec, ErrorCode code, const Body& body) {
  const auto code_of = [code](const nb::python_error& error) {
    return error.matches(PyExc_MemoryError) ? ErrorCode::resource_limit : code;
  };
  return call_python("codec " + codec, code_of, body);
}

nb::object numpy_dtype(const DataType& type) {
  static constinit Imported to_numpy("zarrive.data_types", "to_numpy");
  return to_numpy(type);
}

// A copy of the elements as a NumPy array, which Python code may keep.
nb::object numpy_copy(const ArrayView& view) {
  static constinit Imported ndarray("numpy", "ndarray");
  NDArray own = NDArray::allocate(view.type, view.shape);
  copy(view, own.view());
  const nb::tuple shape = to_tuple(view.shape);
  return ndarray(shape, numpy_dtype(view.type), nb::cast(std::move(own)));
}

void put(nb::handle result, const ArrayView& destination) {
  static constinit Imported asarray("numpy", "asarray");
  const nb::object array = asarray(result, numpy_dtype(destination.type));
  const Interface interface = interface_of(array);
  if (interface.shape != destination.shape)
    throw nb::value_error("the result has another shape than the chunk");
  copy(view_of(interface, destination.type), destination);
}

class PythonArrayCodec final : public ArrayToArrayCodec {
 public:
  PythonArrayCodec(std::string name, nb::handle object) : name_(std::move(name)), codec_(object) {}
  ArraySpec encoded_spec(const ArraySpec& decoded) const override {
    ArraySpec encoded = decoded;
    with_python(name_, ErrorCode::invalid_metadata, [&] {
      if (!nb::hasattr(codec_.get(), "encoded_dtype")) return;
      const nb::object dtype = codec_.get().attr("encoded_dtype")(numpy_dtype(decoded.type));
      static constinit Imported from_numpy("zarrive.data_types", "from_numpy");
      encoded.type = nb::cast<DataType>(from_numpy(dtype));
      if (!(encoded.type == decoded.type)) encoded.fill = FillValue::zero(encoded.type);
    });
    return encoded;
  }
  void encode(const ArrayView& decoded, const ArrayView& encoded, const Context& context) const override {
    with_python(name_, ErrorCode::invalid_argument, [&] {
      put(codec_.get().attr("encode")(numpy_copy(decoded), context_object(context)), encoded);
    });
  }
  void decode(const ArrayView& encoded, const ArrayView& decoded, const Context& context) const override {
    with_python(name_, ErrorCode::corrupt_chunk, [&] {
      put(codec_.get().attr("decode")(numpy_copy(encoded), context_object(context)), decoded);
    });
  }

 private:
  std::string name_;
  Held codec_;
};

nb::object buffer_copy(std::span<const std::byte> bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class PythonArrayBytesCodec final : public ArrayToBytesCodec {
 public:
  PythonArrayBytesCodec(std::string name, nb::handle object) : name_(std::move(name)), codec_(object) {}
  Buffer encode(const ArrayView& decoded, const ArraySpec&, const Context& context) const override {
    return with_python(name_, ErrorCode::invalid_argument, [&] {
      return buffer_of(codec_.get().attr("encode")(numpy_copy(decoded), context_object(context)));
    });
  }
  void decode(std::span<const std::byte> encoded, const ArraySpec& spec, const ArrayView& decoded,
              const Context& context) const override {
    with_python(name_, ErrorCode::corrupt_chunk, [&] {
      put(codec_.get().attr("decode")(buffer_copy(encoded), to_tuple(spec.shape), numpy_dtype(spec.type),
                                      context_object(context)),
          decoded);
    });
  }

 private:
  std::string name_;
  Held codec_;
};

class PythonBytesCodec final : public BytesToBytesCodec {
 public:
  PythonBytesCodec(std::string name, nb::handle object) : name_(std::move(name)), codec_(object) {}
  Buffer encode(std::span<const std::byte> decoded, const Context& context) const override {
    return with_python(name_, ErrorCode::invalid_argument, [&] {
      return buffer_of(codec_.get().attr("encode")(buffer_copy(decoded), context_object(context)));
    });
  }
  void decode(std::span<const std::byte> encoded, ByteOutput& decoded,
              const Context& context) const override {
    const Buffer bytes = with_python(name_, ErrorCode::corrupt_chunk, [&] {
      return buffer_of(codec_.get().attr("decode")(buffer_copy(encoded), context_object(context)));
    });
    decoded.assign(bytes.host_span());
  }

 private:
  std::string name_;
  Held codec_;
};

CodecKind kind_of(const std::string& kind) {
  if (kind == "array_to_array") return CodecKind::array_to_array;
  if (kind == "array_to_bytes") return CodecKind::array_to_bytes;
  if (kind == "bytes_to_bytes") return CodecKind::bytes_to_bytes;
  throw nb::value_error("a codec's kind is 'array_to_array', 'array_to_bytes' or 'bytes_to_bytes'");
}

void register_codec(const std::string& name, nb::object make, const std::string& kind) {
  const CodecKind codec_kind = kind_of(kind);
  const Held held(make);
  auto factory = [name, held, codec_kind](const CodecSpec& spec,
                                          const CodecOptions&) -> std::shared_ptr<Codec> {
    return with_python(name, ErrorCode::invalid_metadata, [&]() -> std::shared_ptr<Codec> {
      const nb::object configuration = to_python(spec.configuration);
      const nb::object codec = held.get()(**nb::borrow<nb::dict>(configuration));
      switch (codec_kind) {
        case CodecKind::array_to_array: return std::make_shared<PythonArrayCodec>(name, codec);
        case CodecKind::array_to_bytes: return std::make_shared<PythonArrayBytesCodec>(name, codec);
        case CodecKind::bytes_to_bytes: return std::make_shared<PythonBytesCodec>(name, codec);
      }
      throw Error(ErrorCode::internal, "no such kind of codec");
    });
  };
  for (const ZarrFormat format : {ZarrFormat::v2, ZarrFormat::v3}) {
    CodecInfo info;
    info.name = name;
    info.format = format;
    info.kind = codec_kind;
    CodecRegistry::global().add(std::move(info), factory);
  }
}

}  // namespace

void bind_codecs(nb::module_& m) {
  m.def("register_codec", &register_codec, nb::arg("name"), nb::arg("make"), nb::arg("kind"),
        "Makes a codec known in both formats. make(**configuration) gives an object with encode and decode; "
        "see zarrive.register_codec.");
  m.def(
      "has_codec",
      [](const std::string& name, int format) {
        return CodecRegistry::global().contains(name, format == 2 ? ZarrFormat::v2 : ZarrFormat::v3);
      },
      nb::arg("name"), nb::arg("zarr_format") = 3);
  m.def(
      "codec_names",
      [](int format) {
        std::vector<std::string> names;
        for (const CodecInfo& codec : CodecRegistry::global().list())
          if (static_cast<int>(codec.format) == format && codec.refused.empty()) names.push_back(codec.name);
        return names;
      },
      nb::arg("zarr_format") = 3);
}

}  // namespace zarrive::python
