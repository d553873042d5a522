#include "metadata/dimension_names.hpp"

namespace zarrive::metadata {

namespace {

DimensionNames names_of(const Json* list, std::size_t ndim, bool full_names) {
  if (!list || !list->is_array() || list->as_array().size() != ndim) return {};
  DimensionNames names;
  for (const Json& item : list->as_array()) {
    if (!item.is_string()) return {};
    std::string name = item.as_string();
    if (full_names) name.erase(0, name.find_last_of('/') + 1);  // npos + 1 is 0
    names.emplace_back(std::move(name));
  }
  return names;
}

}  // namespace

DimensionNames v2_dimension_names(const JsonObject& attributes, const JsonObject* zarray, std::size_t ndim) {
  if (auto names = names_of(attributes.find("_ARRAY_DIMENSIONS"), ndim, false); !names.empty()) return names;
  for (const JsonObject* members : {&attributes, zarray}) {
    if (!members) continue;
    for (const char* of_array : {"_nczarr_array", "_NCZARR_ARRAY"}) {
      const Json* array = members->find(of_array);
      if (!array) continue;
      for (const char* references : {"dimension_references", "dimrefs"})
        if (auto names = names_of(array->find(references), ndim, true); !names.empty()) return names;
    }
  }
  return {};
}

}  // namespace zarrive::metadata
