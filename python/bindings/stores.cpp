#include "stores.hpp"

#include <filesystem>

#include "contexts.hpp"
#include "memory.hpp"

namespace zarrive::python {
namespace {

using Keys = std::vector<std::string>;

std::optional<Durability> durability_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (*name == "none") return Durability::none;
  if (*name == "batch") return Durability::batch;
  if (*name == "full") return Durability::full;
  throw nb::value_error("durability is 'none', 'batch' or 'full'");
}

OpenMode mode_of(const std::string& mode) {
  if (mode == "r") return OpenMode::read;
  if (mode == "r+") return OpenMode::write;
  if (mode == "a" || mode == "w" || mode == "w-" || mode == "x") return OpenMode::create;
  throw nb::value_error("the mode is 'r', 'r+', 'a', 'w' or 'w-'");
}

nb::object buffers_or_none(std::vector<std::optional<Buffer>>&& values) {
  nb::list list;
  for (std::optional<Buffer>& value : values) {
    if (value) list.append(nb::cast(std::move(*value)));
    else list.append(nb::none());
  }
  return list;
}

nb::dict spec_dict(const char* kind) {
  nb::dict spec;
  spec["kind"] = kind;
  return spec;
}

StoreHandle open_url(const std::string& url, const std::string& mode, std::optional<std::string> durability,
                     bool follow_symlinks, std::optional<std::string> zip_folder) {
  const OpenStoreOptions options{.mode = mode_of(mode),
                                 .durability = durability_of(durability),
                                 .follow_symlinks = follow_symlinks,
                                 .zip_folder = zip_folder};
  std::shared_ptr<Store> store;
  {
    nb::gil_scoped_release release;
    store = open_store(url, options);
  }
  nb::dict spec = spec_dict("url");
  // Whoever opens it again may be a process in another folder.
  spec["url"] = url.find("://") == std::string::npos ? std::filesystem::absolute(url).string() : url;
  spec["mode"] = mode == "r" ? "r" : mode == "r+" ? "r+" : "a";  // what "w" did to it is done
  spec["durability"] = durability ? nb::object(nb::str(durability->c_str())) : nb::object(nb::none());
  spec["follow_symlinks"] = follow_symlinks;
  spec["zip_folder"] = zip_folder ? nb::object(nb::str(zip_folder->c_str())) : nb::object(nb::none());
  // A nameless memory store is nowhere else; one with a name is in this process only.
  if (url.starts_with("memory:")) return {std::move(store), nb::none()};
  return {std::move(store), spec};
}

nb::object derived_spec(const char* kind, const StoreHandle& base) {
  if (base.spec.is_none()) return nb::none();
  nb::dict spec = spec_dict(kind);
  spec["base"] = base.spec;
  return spec;
}

StoreHandle read_only(const StoreHandle& base) {
  return {std::make_shared<ReadOnlyStore>(base.store), derived_spec("read_only", base)};
}

StoreHandle prefix(const StoreHandle& base, const std::string& path) {
  nb::object spec = derived_spec("prefix", base);
  if (!spec.is_none()) nb::cast<nb::dict>(spec)["prefix"] = path;
  return {std::make_shared<PrefixStore>(base.store, path), spec};
}

StoreHandle open_spec(nb::dict spec) {
  const auto kind = nb::cast<std::string>(spec["kind"]);
  if (kind == "url") {
    std::optional<std::string> durability;
    if (!nb::object(spec["durability"]).is_none()) durability = nb::cast<std::string>(spec["durability"]);
    std::optional<std::string> zip_folder;
    if (!nb::object(spec["zip_folder"]).is_none()) zip_folder = nb::cast<std::string>(spec["zip_folder"]);
    return open_url(nb::cast<std::string>(spec["url"]), nb::cast<std::string>(spec["mode"]), durability,
                    nb::cast<bool>(spec["follow_symlinks"]), zip_folder);
  }
  if (kind == "python") {
    static constinit Imported make("zarrive._core", "python_store");
    return nb::cast<StoreHandle>(make(spec["object"]));
  }
  const StoreHandle base = open_spec(nb::cast<nb::dict>(spec["base"]));
  if (kind == "read_only") return read_only(base);
  if (kind == "prefix") return prefix(base, nb::cast<std::string>(spec["prefix"]));
  throw nb::value_error(("a store of kind '" + kind + "' cannot be opened from its spec").c_str());
}

nb::dict counts_dict(const StoreCounts& counts) {
  nb::dict dict;
  auto put = [&](const char* name, std::uint64_t value) { dict[name] = value; };
  put("get_batches", counts.get_batches);
  put("get_requests", counts.get_requests);
  put("ranges", counts.ranges);
  put("found", counts.found);
  put("missing", counts.missing);
  put("errors", counts.errors);
  put("placed", counts.placed);
  put("bytes_read", counts.bytes_read);
  put("set_batches", counts.set_batches);
  put("set_requests", counts.set_requests);
  put("bytes_written", counts.bytes_written);
  put("erase_requests", counts.erase_requests);
  put("erase_prefixes", counts.erase_prefixes);
  put("sizes", counts.sizes);
  put("lists", counts.lists);
  put("flushes", counts.flushes);
  return dict;
}

CountingStore& counting(const StoreHandle& handle) {
  auto* store = dynamic_cast<CountingStore*>(handle.store.get());
  if (!store) throw nb::attribute_error("only a counting_store counts");
  return *store;
}

}  // namespace

ByteRange range_of(nb::handle range) {
  if (range.is_none()) return ByteRange::all();
  const auto kind = nb::cast<std::string>(range[0]);
  if (kind == "range")
    return ByteRange::range(nb::cast<std::uint64_t>(range[1]), nb::cast<std::uint64_t>(range[2]));
  if (kind == "from") return ByteRange::from(nb::cast<std::uint64_t>(range[1]));
  if (kind == "suffix") return ByteRange::suffix(nb::cast<std::uint64_t>(range[1]));
  throw nb::value_error("a range is None, ('range', offset, length), ('from', offset) or ('suffix', length)");
}

nb::object range_object(const ByteRange& range) {
  switch (range.kind) {
    case ByteRange::Kind::range: return nb::make_tuple("range", range.offset, range.length);
    case ByteRange::Kind::from: return nb::make_tuple("from", range.offset);
    case ByteRange::Kind::suffix: return nb::make_tuple("suffix", range.length);
    case ByteRange::Kind::whole: break;
  }
  return nb::none();
}

void bind_stores(nb::module_& m) {
  nb::class_<StoreHandle>(
      m, "Store",
      "Keys and bytes. Made by open_store and its like; used by arrays and groups, and by itself.")
      .def_prop_ro(
          "name", [](const StoreHandle& s) { return s.store->name(); },
          "For messages: a path or URL without credentials.")
      .def_prop_ro("writable", [](const StoreHandle& s) { return s.store->capabilities().writable; })
      .def_prop_ro("listable", [](const StoreHandle& s) { return s.store->capabilities().listable; })
      .def_prop_ro(
          "spec", [](const StoreHandle& s) { return s.spec; },
          "What it takes to open the same store in another process, without credentials; None when that "
          "cannot be.")
      .def(
          "get",
          [](const StoreHandle& s, const std::string& key, nb::object range,
             std::optional<Context> context) -> nb::object {
            const ByteRange bytes = range_of(range);
            std::optional<Buffer> value;
            {
              nb::gil_scoped_release release;
              value = s.store->get(key, bytes, context ? &*context : nullptr);
            }
            return value ? nb::cast(std::move(*value)) : nb::object(nb::none());
          },
          nb::arg("key"), nb::arg("range") = nb::none(), nb::arg("context") = nb::none(),
          "The value as a Buffer, or None when there is none. range: None, ('range', offset, length), "
          "('from', offset), ('suffix', length).")
      .def(
          "get_ranges",
          [](const StoreHandle& s, const std::string& key, const std::vector<nb::object>& ranges,
             std::optional<Context> context) -> nb::object {
            GetRequest request{
                .key = key, .ranges = {}, .context = context ? &*context : nullptr, .destinations = {}};
            for (const nb::object& range : ranges) request.ranges.push_back(range_of(range));
            if (ranges.empty()) return nb::list();
            GetResult found;
            {
              nb::gil_scoped_release release;
              s.store->get(std::span(&request, 1),
                           [&](std::size_t, GetResult&& result) { found = std::move(result); });
              found.rethrow();
            }
            if (found.status == GetStatus::missing) return nb::none();
            nb::list values;
            for (Buffer& value : found.values) values.append(nb::cast(std::move(value)));
            return values;
          },
          nb::arg("key"), nb::arg("ranges"), nb::arg("context") = nb::none(),
          "The ranges of one value, read as one request; None when the value is missing.")
      .def(
          "getitems",
          [](const StoreHandle& s, const Keys& keys, nb::object contexts) {
            const ContextsArgument given(contexts, keys);
            std::map<std::string, Buffer> found;
            {
              nb::gil_scoped_release release;
              found = getitems(*s.store, keys, {.contexts = given.ref(), .get = {}});
            }
            nb::dict result;
            for (auto& [key, value] : found) result[key.c_str()] = nb::cast(std::move(value));
            return result;
          },
          nb::arg("keys"), nb::arg("contexts") = nb::none(),
          "One batch: the values of the keys that are there; absent keys are absent. contexts: None, one "
          "Context, or a mapping by key.")
      .def(
          "get_partial_values",
          [](const StoreHandle& s, const std::vector<std::pair<std::string, nb::object>>& key_ranges,
             nb::object contexts) {
            std::vector<KeyRange> wanted;
            Keys keys;
            for (const auto& [key, range] : key_ranges) {
              wanted.push_back({key, range_of(range)});
              keys.push_back(key);
            }
            const ContextsArgument given(contexts, keys);
            std::vector<std::optional<Buffer>> values;
            {
              nb::gil_scoped_release release;
              values = get_partial_values(*s.store, wanted, {.contexts = given.ref(), .get = {}});
            }
            return buffers_or_none(std::move(values));
          },
          nb::arg("key_ranges"), nb::arg("contexts") = nb::none(),
          "A value (or None) for each (key, range), read as one batch.")
      .def(
          "set",
          [](const StoreHandle& s, const std::string& key, nb::object value, std::optional<Context> context) {
            Buffer bytes = buffer_of(value);
            nb::gil_scoped_release release;
            s.store->set(key, std::move(bytes), context ? &*context : nullptr);
          },
          nb::arg("key"), nb::arg("value"), nb::arg("context") = nb::none())
      .def(
          "setitems",
          [](const StoreHandle& s, nb::object values, nb::object contexts) {
            std::map<std::string, Buffer> buffers;
            Keys keys;
            for (nb::handle item : nb::iter(values.attr("items")())) {
              keys.push_back(nb::cast<std::string>(item[0]));
              buffers.insert_or_assign(keys.back(), buffer_of(item[1]));
            }
            const ContextsArgument given(contexts, keys);
            nb::gil_scoped_release release;
            setitems(*s.store, buffers, {.contexts = given.ref(), .set = {}});
          },
          nb::arg("values"), nb::arg("contexts") = nb::none(), "Writes all of a mapping in one batch.")
      .def(
          "set_if_absent",
          [](const StoreHandle& s, const std::string& key, nb::object value) {
            Buffer bytes = buffer_of(value);
            nb::gil_scoped_release release;
            return s.store->set_if_absent(key, std::move(bytes));
          },
          nb::arg("key"), nb::arg("value"), "True when the key was not there and now holds the value.")
      .def(
          "erase", [](const StoreHandle& s, const std::string& key) { s.store->erase(key); }, nb::arg("key"),
          nb::call_guard<nb::gil_scoped_release>(), "No error when the key is missing.")
      .def(
          "erase_many", [](const StoreHandle& s, const Keys& keys) { s.store->erase(keys); }, nb::arg("keys"),
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "erase_prefix", [](const StoreHandle& s, const std::string& p) { s.store->erase_prefix(p); },
          nb::arg("prefix"), nb::call_guard<nb::gil_scoped_release>(),
          "Every key below the prefix; '' erases everything.")
      .def(
          "exists", [](const StoreHandle& s, const std::string& key) { return s.store->exists(key); },
          nb::arg("key"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "size", [](const StoreHandle& s, const std::string& key) { return s.store->size(key); },
          nb::arg("key"), nb::call_guard<nb::gil_scoped_release>(),
          "Bytes of the value; None when it is missing.")
      .def(
          "list", [](const StoreHandle& s, const std::string& p) { return s.store->list(p); },
          nb::arg("prefix") = "", nb::call_guard<nb::gil_scoped_release>(),
          "Full keys below the prefix, sorted.")
      .def(
          "list_dir",
          [](const StoreHandle& s, const std::string& p) {
            DirectoryListing listing = s.store->list_dir(p);
            return std::make_pair(std::move(listing.keys), std::move(listing.prefixes));
          },
          nb::arg("prefix") = "", nb::call_guard<nb::gil_scoped_release>(),
          "(keys, prefixes) directly below the prefix, full and sorted.")
      .def(
          "flush", [](const StoreHandle& s) { s.store->flush(); }, nb::call_guard<nb::gil_scoped_release>(),
          "Makes everything written so far durable; a zip writes its directory.")
      .def_prop_ro(
          "counts", [](const StoreHandle& s) { return counts_dict(counting(s).counts()); },
          "Of a counting_store.")
      .def(
          "reset_counts", [](const StoreHandle& s) { counting(s).reset(); }, "Of a counting_store.")
      .def(
          "same_as",
          [](const StoreHandle& a, const StoreHandle& b) {
            return a.store == b.store || (!a.spec.is_none() && a.spec.equal(b.spec));
          },
          nb::arg("other"))
      .def("__repr__", [](const StoreHandle& s) { return "<zarrive.Store " + s.store->name() + ">"; })
      .def("__reduce__", [](const StoreHandle& s) {
        if (s.spec.is_none())
          throw nb::type_error(
              ("the store " + s.store->name() + " exists in this process only and cannot be pickled")
                  .c_str());
        return nb::make_tuple(nb::module_::import_("zarrive._unpickle").attr("store"),
                              nb::make_tuple(s.spec));
      });

  m.def("open_store", &open_url, nb::arg("url"), nb::arg("mode") = "r", nb::arg("durability") = nb::none(),
        nb::arg("follow_symlinks") = false, nb::arg("zip_folder") = nb::none(),
        "A directory, a zip archive, memory://name or what is registered for the scheme. Modes: r, r+, a, w, "
        "w- (the last three make it). Keys of an archive are its entries below `zip_folder`; absent: below "
        "the root, "
        "or below the only folder when that has the metadata.");
  m.def("open_spec", &open_spec, nb::arg("spec"), "The store that a spec tells of.");
  m.def(
      "memory_store", [] { return open_url("memory://", "a", std::nullopt, false, std::nullopt); },
      "A fresh store in this process's memory.");
  m.def("read_only_store", &read_only, nb::arg("store"));
  m.def("prefix_store", &prefix, nb::arg("store"), nb::arg("prefix"),
        "The part of a store below 'prefix/', with keys as seen from there.");
  m.def(
      "counting_store",
      [](const StoreHandle& base) {
        return StoreHandle{std::make_shared<CountingStore>(base.store), nb::none()};
      },
      nb::arg("store"), "The same store, counting requests and bytes.");
}

}  // namespace zarrive::python
