// transpose and reshape: orders, shapes, and what is no such thing.
#include "codec/array_codec_values.hpp"

namespace zarrive {
namespace {

using namespace testing;

TEST(Transpose, OrderAndConfiguration) {
  const ArraySpec spec = spec_of("uint8", {2, 3, 4});
  const auto codec = array_codec("transpose", R"({"order":[2,0,1]})")->bind(spec);
  EXPECT_EQ(codec->encoded_spec(spec).shape, (Shape{4, 2, 3}));
  const auto flat = array_codec("transpose", R"({"order":[1,0]})");
  const NDArray original = array_of(DataType(), {2, 3}, "[1,2,3,4,5,6]");
  const NDArray encoded = NDArray::allocate(DataType(), {3, 2});
  flat->encode(original.view(), encoded.view(), {});
  EXPECT_EQ(elements_of(encoded.view()), "[1,4,2,5,3,6]");
  EXPECT_ERROR(flat->bind(spec), ErrorCode::invalid_metadata, "'order' has 2 entries, the array has 3");
  for (const char* bad : {"{}", R"({"order":3})", R"({"order":[0,0]})", R"({"order":[0,2]})",
                          R"({"order":[-1,0]})", R"({"order":["0"]})", R"({"order":"K"})"})
    EXPECT_ERROR(make_codec("transpose", bad), ErrorCode::invalid_metadata, "order");
  std::vector<std::string> warnings;
  make_codec("transpose", R"({"order":"F"})", v3, false, &warnings);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_ERROR(make_codec("transpose", R"({"order":"F"})", v3, true), ErrorCode::invalid_metadata, "dropped");
}

TEST(Reshape, Shapes) {
  const auto shape = [](const std::string& configuration, const Shape& from) {
    const ArraySpec spec = spec_of("uint8", from);
    return array_codec("reshape", "{\"shape\":" + configuration + "}")->bind(spec)->encoded_spec(spec).shape;
  };
  EXPECT_EQ(shape("[[0,1],[2],3]", {100, 50, 64, 3}), (Shape{5000, 64, 3}));
  EXPECT_EQ(shape("[-1]", {2, 3}), (Shape{6}));
  EXPECT_EQ(shape("[2,-1,3]", {4, 6}), (Shape{2, 4, 3}));
  EXPECT_EQ(shape("[-1,[1]]", {4, 6}), (Shape{4, 6}));
  EXPECT_EQ(shape("[]", {1, 1}), (Shape{}));
  EXPECT_EQ(shape("[[0],[],1]", {5}), (Shape{5, 1, 1}));
  EXPECT_ERROR(shape("[4]", {2, 3}), ErrorCode::invalid_metadata, "6 elements");
  EXPECT_ERROR(shape("[4,-1]", {2, 3}), ErrorCode::invalid_metadata, "cannot be divided");
  EXPECT_ERROR(shape("[[0,5]]", {2, 3}), ErrorCode::invalid_metadata, "no dimension 5");
  EXPECT_ERROR(shape("[3,[0]]", {2, 3}), ErrorCode::invalid_metadata, "does not run along");
  for (const char* bad :
       {"{}", R"({"shape":6})", R"({"shape":[0]})", R"({"shape":[-2]})", R"({"shape":[-1,-1]})",
        R"({"shape":[[1],[0]]})", R"({"shape":[[1,0]]})", R"({"shape":[["x"]]})", R"({"shape":["x"]})"})
    EXPECT_ERROR(make_codec("reshape", bad), ErrorCode::invalid_metadata, "shape");
  const ArraySpec spec = spec_of("uint8", {2, 3});
  EXPECT_FALSE(array_codec("reshape", R"({"shape":[6]})")
                   ->bind(spec)
                   ->view_as_encoded(strided(spec.type, spec.shape).view));
}

}  // namespace
}  // namespace zarrive
