#include "metadata/reading.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive {

using namespace metadata;

GroupMetadata GroupMetadata::from_v2(const Json& zgroup, const Json& zattrs, const MetadataOptions& options) {
  const Warn warn = warner(options);
  const JsonObject& members = members_of(zgroup, ".zgroup");
  const Json& version = required(members, "zarr_format", ".zgroup", "2");
  if (version.to_uint64() != std::uint64_t{2}) fail("zarr_format", version, "2");
  GroupMetadata group;
  group.format = ZarrFormat::v2;
  group.attributes = attributes_of(zattrs.is_null() ? nullptr : &zattrs, ".zattrs", warn);
  return group;
}

GroupMetadata GroupMetadata::from_v3(const Json& document, const MetadataOptions& options) {
  const Warn warn = warner(options);
  const JsonObject& members = v3_members_of(document, "group");
  GroupMetadata group;
  group.format = ZarrFormat::v3;
  group.extra_members =
      extra_members_of(members, {"zarr_format", "node_type", "attributes", "consolidated_metadata"});
  group.attributes = attributes_of(members.find("attributes"), "attributes", warn);
  if (const Json* consolidated = members.find("consolidated_metadata")) {
    if (consolidated->is_null()) warn("member \"consolidated_metadata\" is null, which is taken as absent");
    else group.consolidated = ConsolidatedMetadata::from_v3(*consolidated);
  }
  return group;
}

// Members in the order of zarr-python.
Json GroupMetadata::to_v3() const {
  if (format != ZarrFormat::v3)
    throw Error(ErrorCode::invalid_argument, "metadata of Zarr v2 has no zarr.json document");
  JsonObject document{{"attributes", attributes}, {"zarr_format", 3}};
  if (consolidated) document.set("consolidated_metadata", consolidated->to_v3());
  document.set("node_type", "group");
  for (const auto& [name, value] : extra_members) document.set(name, value);
  return document;
}

std::vector<std::pair<std::string, Json>> GroupMetadata::to_documents() const {
  std::vector<std::pair<std::string, Json>> documents;
  if (format == ZarrFormat::v3) {
    documents.emplace_back("zarr.json", to_v3());
    return documents;
  }
  documents.emplace_back(".zgroup", JsonObject{{"zarr_format", 2}});
  if (!attributes.empty()) documents.emplace_back(".zattrs", attributes);
  return documents;
}

}  // namespace zarrive
