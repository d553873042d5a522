// Stores written in Python: a class with `get` (or `getitems`), and as much of the rest as it can do, plugs into the core.
#include "contexts.hpp"
#include "memory.hpp"
#include "stores.hpp"

namespace zarrive::python {
namespace {

// Of what Python code raised. KeyError and FileNotFoundError are for keys that are missing; here, where that is not asked, they are failures
// like others.
ErrorCode code_of(const nb::python_error& error) {
  if (error.matches(PyExc_PermissionError)) return ErrorCode::permission;
  if (error.matches(PyExc_NotImplementedError)) return ErrorCode::unsupported;
  if (error.matches(PyExc_MemoryError)) return ErrorCode::resource_limit;
  if (error.matches(PyExc_KeyboardInterrupt)) return ErrorCode::cancelled;
  return ErrorCode::unavailable;
}

class PythonStore final : public Store {
 public:
  explicit PythonStore(nb::handle object) : object_(object) {
    if (nb::hasattr(object, "name")) {
      const nb::object name = object.attr("name");
      name_ = nb::cast<std::string>(nb::str(PyCallable_Check(name.ptr()) ? nb::object(name()) : name));
    } else {
      name_ = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
    }
    has_getitems_ = nb::hasattr(object, "getitems");
    has_get_ = nb::hasattr(object, "get");
    if (!has_get_ && !has_getitems_)
      throw nb::type_error("a store needs a method get(key, ...) or getitems(keys, ...)");
    has_setitems_ = nb::hasattr(object, "setitems");
    capabilities_.writable = nb::hasattr(object, "set") || has_setitems_;
    capabilities_.listable = nb::hasattr(object, "list");
    has_get_ranges_ = nb::hasattr(object, "get_ranges");
    capabilities_.cheap_ranges = has_get_ranges_ || nb::hasattr(object, "get_range");
    capabilities_.atomic_set = false;
    capabilities_.annotates = nb::hasattr(object, "codec_parameters");
    capabilities_.waits = nb::hasattr(object, "waits") && nb::cast<bool>(object.attr("waits"));
    takes_context_ = nb::hasattr(object, "takes_context") && nb::cast<bool>(object.attr("takes_context"));
  }

  std::string name() const override { return name_; }
  StoreCapabilities capabilities() const override { return capabilities_; }
  void flush() override {
    with("flush", [&](nb::handle self) {
      if (nb::hasattr(self, "flush")) self.attr("flush")();
    });
  }
  void annotate(Context& context) override {
    if (!capabilities_.annotates || !context.key) return;
    with("codec_parameters", [&](nb::handle self) {
      const nb::object parameters = self.attr("codec_parameters")(*context.key);
      if (!parameters.is_none()) context.codec_parameters = from_python(parameters);
    });
  }

 protected:
  GetResult do_get_one(const GetRequest& request) override {
    std::optional<Buffer> value;
    GetResult ranged;
    bool by_range = false;
    with("get", [&](nb::handle self) {
      if (capabilities_.cheap_ranges && !wants_whole(request)) {
        by_range = true;
        if (has_get_ranges_) read_ranges_at_once(self, request, ranged);
        else read_ranges(self, request, ranged);
        return;
      }
      nb::object found;
      if (has_get_) {
        found = takes_context_
                    ? self.attr("get")(request.key, nb::arg("context") = context_of(request.context))
                    : self.attr("get")(request.key);
      } else {
        nb::list keys;
        keys.append(request.key);
        nb::dict contexts;
        if (request.context) contexts[request.key.c_str()] = context_object(*request.context);
        found = self.attr("getitems")(keys, nb::arg("contexts") = contexts).attr("get")(request.key);
      }
      if (!found.is_none()) value = buffer_of(found);
    });
    if (by_range) return ranged;
    if (!value) return {};
    return result_of(request, *value);
  }

  // A store with getitems gets whole batches, each key with its context; what is there comes in one call.
  void do_get(std::span<const GetRequest> batch, const GetSink& sink, const GetOptions& options) override {
    bool whole = has_getitems_ && batch.size() > 1;
    for (const GetRequest& request : batch) whole = whole && wants_whole(request);
    if (!whole) return Store::do_get(batch, sink, options);
    for (std::size_t first = 0; first < batch.size();) {
      if (options.stop.stop_requested()) throw Error(ErrorCode::cancelled, "the batch was stopped");
      std::size_t last = first;
      std::uint64_t bytes = 0;
      for (; last < batch.size() && (last == first || bytes < options.max_bytes_in_flight); ++last)
        bytes += batch[last].context ? batch[last].context->expected_size.value_or(1 << 20) : 1 << 20;
      std::vector<std::optional<Buffer>> values(last - first);
      std::exception_ptr failure;
      try {
        with("getitems", [&](nb::handle self) {
          nb::list keys;
          nb::dict contexts;
          for (std::size_t i = first; i < last; ++i) {
            keys.append(batch[i].key);
            if (batch[i].context) contexts[batch[i].key.c_str()] = context_object(*batch[i].context);
          }
          const nb::object found = self.attr("getitems")(keys, nb::arg("contexts") = contexts);
          const nb::object get = found.attr("get");
          for (std::size_t i = first; i < last; ++i) {
            const nb::object value = get(batch[i].key);
            if (!value.is_none()) values[i - first] = buffer_of(value);
          }
        });
      } catch (const Error&) {
        failure = std::current_exception();
      }
      for (std::size_t i = first; i < last; ++i) {
        GetResult result;
        if (failure) {
          result.status = GetStatus::error;
          try {
            std::rethrow_exception(failure);
          } catch (const Error& error) {
            result.error =
                std::make_exception_ptr(error.with({.store = name_, .node = {}, .key = batch[i].key}));
          }
        } else if (values[i - first]) {
          result = result_of(batch[i], *values[i - first]);
        }
        sink(i, std::move(result));
      }
      first = last;
    }
  }

  void do_set_one(const std::string& key, const Buffer& value, const Context* context, Durability) override {
    with("set", [&](nb::handle self) {
      nb::object bytes = nb::cast(value);
      if (nb::hasattr(self, "set")) {
        if (takes_context_) self.attr("set")(key, bytes, nb::arg("context") = context_of(context));
        else self.attr("set")(key, bytes);
        return;
      }
      nb::dict values;
      values[key.c_str()] = bytes;
      self.attr("setitems")(values);
    });
  }
  void do_erase_one(const std::string& key) override {
    with("erase", [&](nb::handle self) { self.attr("erase")(key); });
  }
  std::optional<std::uint64_t> do_size(const std::string& key) override {
    std::optional<std::uint64_t> size;
    bool known = false;
    with("size", [&](nb::handle self) {
      if (!nb::hasattr(self, "size")) return;
      known = true;
      const nb::object found = self.attr("size")(key);
      if (!found.is_none()) size = nb::cast<std::uint64_t>(found);
    });
    return known ? size : Store::do_size(key);
  }
  std::vector<std::string> do_list(const std::string& prefix) override {
    if (!capabilities_.listable) return Store::do_list(prefix);
    std::vector<std::string> keys;
    with("list", [&](nb::handle self) {
      for (nb::handle key : nb::iter(self.attr("list")(prefix))) keys.push_back(nb::cast<std::string>(key));
    });
    std::sort(keys.begin(), keys.end());
    return keys;
  }

 private:
  static nb::object context_of(const Context* context) {
    return context ? context_object(*context) : nb::object(nb::none());
  }

  // get_ranges(key, ranges) -> list of bytes, or None; ranges as Store.get takes them.
  void read_ranges_at_once(nb::handle self, const GetRequest& request, GetResult& result) {
    nb::list ranges;
    for (const ByteRange& range : request.ranges) ranges.append(range_object(range));
    const nb::object found = self.attr("get_ranges")(request.key, ranges);
    if (found.is_none()) return;
    result.status = GetStatus::found;
    for (nb::handle value : nb::iter(found)) result.values.push_back(buffer_of(value));
    if (result.values.size() != request.ranges.size())
      throw Error(ErrorCode::invalid_argument,
                  name_ + ".get_ranges gave " + std::to_string(result.values.size()) + " values for " +
                      std::to_string(request.ranges.size()) + " ranges of " + request.key);
  }

  // get_range(key, start, length) -> bytes or None; start < 0 counts from the end, length None is all from there.
  void read_ranges(nb::handle self, const GetRequest& request, GetResult& result) {
    result.status = GetStatus::found;
    for (const ByteRange& range : request.ranges) {
      nb::object bytes;
      const nb::object get_range = self.attr("get_range");
      switch (range.kind) {
        case ByteRange::Kind::whole: bytes = get_range(request.key, 0, nb::none()); break;
        case ByteRange::Kind::range: bytes = get_range(request.key, range.offset, range.length); break;
        case ByteRange::Kind::from: bytes = get_range(request.key, range.offset, nb::none()); break;
        case ByteRange::Kind::suffix:
          bytes =
              range.length == 0
                  ? nb::object(nb::bytes("", 0))
                  : nb::object(get_range(request.key, -static_cast<std::int64_t>(range.length), nb::none()));
          break;
      }
      if (bytes.is_none()) {
        result = {};
        return;
      }
      result.values.push_back(buffer_of(bytes));
    }
  }

  template <class Body>
  void with(const char* method, const Body& body) {
    call_python(name_ + "." + method, code_of, [&] { body(object_.get()); });
  }

  Held object_;
  std::string name_;
  StoreCapabilities capabilities_;
  bool has_get_ = false;
  bool has_getitems_ = false;
  bool has_setitems_ = false;
  bool has_get_ranges_ = false;
  bool takes_context_ = false;
};

StoreHandle make(nb::object object) {
  nb::dict spec;
  spec["kind"] = "python";
  spec["object"] = object;
  return {std::make_shared<PythonStore>(object), spec};
}

}  // namespace

void bind_python_store(nb::module_& m) {
  m.def(
      "python_store", &make, nb::arg("object"),
      "A store out of a Python object. It needs get(key) -> bytes or None, or getitems(keys, contexts=...) "
      "-> dict, and may have:\n"
      "set(key, value), setitems(values), erase(key), list(prefix) -> keys, size(key), get_range(key, "
      "start, length) (start < 0 from the\n"
      "end, length None to the end), get_ranges(key, ranges) -> list or None (several at once, as Store.get "
      "takes them), codec_parameters(key) -> dict, flush(), name; the attributes waits "
      "(True: requests spend their time\n"
      "waiting) and takes_context (True: get and set get context=). Methods are called from several "
      "threads, one at a time under the GIL.");
}

}  // namespace zarrive::python
