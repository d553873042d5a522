// What the metadata tests share: expected errors, and documents made from a sound one by changing a member.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "zarrive/error.hpp"
#include "zarrive/metadata.hpp"

namespace zarrive::testing {

inline void expect_error(ErrorCode code, const std::string& part, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error, expected " << to_string(code) << " with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_THAT(error.message(), ::testing::HasSubstr(part));
    EXPECT_LT(error.message().size(), 600u) << error.message();
  }
}

inline const char* const sound_v2 =
    R"({"zarr_format": 2, "shape": [20, 10], "chunks": [10, 10], "dtype": "<i4", "compressor": null,
  "fill_value": 7, "order": "C", "filters": null})";
inline const char* const sound_v3 =
    R"({"zarr_format": 3, "node_type": "array", "shape": [20, 10], "data_type": "int32",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 10]}}, "chunk_key_encoding": {"name": "default"},
  "fill_value": 7, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]})";

// The document with the members of `changes` (an object as JSON text) replaced or added.
inline Json changed(const char* document, const std::string& changes) {
  Json result = Json::parse(document);
  const Json members = Json::parse(changes);
  for (const auto& [name, value] : members.as_object()) result.as_object().set(name, value);
  return result;
}
inline Json without(const char* document, std::string_view member) {
  Json result = Json::parse(document);
  EXPECT_TRUE(result.as_object().erase(member)) << member;
  return result;
}

inline ArrayMetadata read_v2(const std::string& changes, const MetadataOptions& options = {}) {
  return ArrayMetadata::from_v2(changed(sound_v2, changes), {}, options);
}
inline ArrayMetadata read_v3(const std::string& changes, const MetadataOptions& options = {}) {
  return ArrayMetadata::from_v3(changed(sound_v3, changes), options);
}

// Collects warnings.
struct Warnings {
  std::vector<std::string> sentences;
  MetadataOptions options() {
    return {.warn = [this](const std::string& sentence) { sentences.push_back(sentence); }};
  }
};

inline void expect_equal(const ArrayMetadata& a, const ArrayMetadata& b) {
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_TRUE(a.data_type == b.data_type) << a.data_type.name() << " and " << b.data_type.name();
  EXPECT_TRUE(a.chunk_grid == b.chunk_grid);
  EXPECT_TRUE(a.chunk_key_encoding == b.chunk_key_encoding);
  EXPECT_TRUE(a.fill_value == b.fill_value);
  EXPECT_EQ(a.fill_value.is_undefined(), b.fill_value.is_undefined());
  EXPECT_TRUE(a.codecs == b.codecs);
  EXPECT_EQ(a.order, b.order);
  EXPECT_TRUE(a.filters == b.filters);
  EXPECT_TRUE(a.compressor == b.compressor);
  EXPECT_TRUE(a.attributes == b.attributes);
  EXPECT_EQ(a.dimension_names, b.dimension_names);
  EXPECT_TRUE(a.extra_members == b.extra_members);
}

// Writes the documents as text and reads them back, strictly.
inline ArrayMetadata rewritten(const ArrayMetadata& metadata) {
  const auto documents = metadata.to_documents();
  const auto text = [&](std::size_t i) {
    return Json::parse(document_text(documents.at(i).second, metadata.format));
  };
  if (metadata.format == ZarrFormat::v3) return ArrayMetadata::from_v3(text(0), {.strict = true});
  return ArrayMetadata::from_v2(text(0), documents.size() > 1 ? text(1) : Json(), {.strict = true});
}

}  // namespace zarrive::testing
