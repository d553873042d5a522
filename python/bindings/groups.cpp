// Groups and the hierarchy.
#include "arrays.hpp"
#include "metadata.hpp"

namespace zarrive::python {
namespace {

struct GroupHandle {
  Group group;
  StoreHandle store;
};

nb::object node_object(Node&& node, const StoreHandle& store) {
  if (auto* array = std::get_if<Array>(&node)) return nb::cast(ArrayHandle{std::move(*array), store});
  return nb::cast(GroupHandle{std::get<Group>(std::move(node)), store});
}

const char* kind_of(NodeType type) { return type == NodeType::array ? "array" : "group"; }

GroupOpenOptions open_options(const std::optional<int>& format, const std::optional<bool>& consolidated) {
  GroupOpenOptions options;
  options.format = format_of(format);
  if (consolidated) options.consolidated = *consolidated ? Consolidated::require : Consolidated::never;
  return options;
}

}  // namespace

void bind_groups(nb::module_& m) {
  nb::class_<GroupHandle>(m, "Group", "A group of a store. See zarrive.Group.")
      .def_prop_ro("store", [](const GroupHandle& g) { return g.store; })
      .def_prop_ro("path", [](const GroupHandle& g) { return g.group.path(); })
      .def_prop_ro("zarr_format", [](const GroupHandle& g) { return static_cast<int>(g.group.format()); })
      .def_prop_ro("is_consolidated", [](const GroupHandle& g) { return g.group.is_consolidated(); })
      .def_prop_ro("attributes", [](const GroupHandle& g) { return to_python(g.group.attributes()); })
      .def(
          "set_attributes",
          [](GroupHandle& g, nb::object attributes) {
            JsonObject object = from_python(attributes).as_object();
            nb::gil_scoped_release release;
            g.group.set_attributes(std::move(object));
          },
          nb::arg("attributes"))
      .def_prop_ro("documents",
                   [](const GroupHandle& g) { return documents_of(g.group.metadata().to_documents()); })
      .def(
          "children",
          [](const GroupHandle& g) {
            std::vector<NodeInfo> found;
            {
              nb::gil_scoped_release release;
              found = g.group.children();
            }
            nb::list children;
            for (const NodeInfo& child : found)
              children.append(nb::make_tuple(child.name, kind_of(child.type)));
            return children;
          },
          "(name, 'array' or 'group') of the direct children, sorted by name.")
      .def(
          "walk",
          [](const GroupHandle& g) {
            std::vector<NodeInfo> found;
            {
              nb::gil_scoped_release release;
              g.group.walk([&](const NodeInfo& node) { found.push_back(node); });
            }
            nb::list nodes;
            for (const NodeInfo& node : found) nodes.append(nb::make_tuple(node.path, kind_of(node.type)));
            return nodes;
          },
          "(path from the store's root, 'array' or 'group') of everything below, each node before its "
          "children.")
      .def(
          "open",
          [](const GroupHandle& g, const std::string& name) {
            std::optional<Node> node;
            {
              nb::gil_scoped_release release;
              node = g.group.open(name);
            }
            return node_object(std::move(*node), g.store);
          },
          nb::arg("name"))
      .def(
          "contains", [](const GroupHandle& g, const std::string& name) { return g.group.contains(name); },
          nb::arg("name"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "create_array",
          [](GroupHandle& g, const std::string& name, nb::dict given) {
            CreateOptions options = create_options(given);
            return ArrayHandle{without_gil([&] { return g.group.create_array(name, std::move(options)); }),
                               g.store};
          },
          nb::arg("name"), nb::arg("options"))
      .def(
          "create_group",
          [](GroupHandle& g, const std::string& name, nb::object attributes, bool overwrite) {
            JsonObject object = attributes.is_none() ? JsonObject() : from_python(attributes).as_object();
            return GroupHandle{
                without_gil([&] { return g.group.create_group(name, std::move(object), overwrite); }),
                g.store};
          },
          nb::arg("name"), nb::arg("attributes") = nb::none(), nb::arg("overwrite") = false)
      .def(
          "erase", [](GroupHandle& g, const std::string& name) { g.group.erase(name); }, nb::arg("name"),
          nb::call_guard<nb::gil_scoped_release>())
      .def("__reduce__", [](const GroupHandle& g) {
        return nb::make_tuple(nb::module_::import_("zarrive._unpickle").attr("group"),
                              nb::make_tuple(g.store, g.group.path(), static_cast<int>(g.group.format())));
      });

  m.def(
      "open_node",
      [](const StoreHandle& store, const std::string& path, std::optional<int> format,
         std::optional<bool> consolidated) {
        std::optional<Node> node;
        const GroupOpenOptions options = open_options(format, consolidated);
        {
          nb::gil_scoped_release release;
          node = open_node(store.store, path, options);
        }
        return node_object(std::move(*node), store);
      },
      nb::arg("store"), nb::arg("path") = "", nb::arg("zarr_format") = nb::none(),
      nb::arg("consolidated") = nb::none(),
      "An Array or a Group. consolidated: True requires that metadata, False does not look at it, None takes "
      "it when it is there.");
  m.def(
      "open_group",
      [](const StoreHandle& store, const std::string& path, std::optional<int> format,
         std::optional<bool> consolidated) {
        const GroupOpenOptions options = open_options(format, consolidated);
        return GroupHandle{without_gil([&] { return open_group(store.store, path, options); }), store};
      },
      nb::arg("store"), nb::arg("path") = "", nb::arg("zarr_format") = nb::none(),
      nb::arg("consolidated") = nb::none());
  m.def(
      "create_group",
      [](const StoreHandle& store, const std::string& path, std::optional<int> format, nb::object attributes,
         bool overwrite) {
        CreateGroupOptions options;
        options.format = format_of(format).value_or(ZarrFormat::v3);
        if (!attributes.is_none()) options.attributes = from_python(attributes).as_object();
        options.overwrite = overwrite;
        return GroupHandle{without_gil([&] { return create_group(store.store, path, options); }), store};
      },
      nb::arg("store"), nb::arg("path") = "", nb::arg("zarr_format") = nb::none(),
      nb::arg("attributes") = nb::none(), nb::arg("overwrite") = false);
  m.def(
      "consolidate_metadata",
      [](const StoreHandle& store, const std::string& path) {
        return GroupHandle{without_gil([&] { return consolidate_metadata(store.store, path); }), store};
      },
      nb::arg("store"), nb::arg("path") = "");
}

}  // namespace zarrive::python
