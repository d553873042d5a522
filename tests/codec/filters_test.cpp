// The filters of numcodecs: known values in NumPy's arithmetic, and on bytes.
#include "codec/array_codec_values.hpp"
#include "codec/array_filter_on_bytes.hpp"

namespace zarrive {
namespace {

using namespace testing;

TEST(Filters, Delta) {
  const Encoded wrapped = through("delta", R"({"dtype":"|u1"})", v2, "uint8", "[250,5,4]");
  EXPECT_EQ(wrapped.elements, "[250,11,255]");
  EXPECT_EQ(wrapped.decoded, "[250,5,4]");
  const Encoded narrow = through("delta", R"({"dtype":"<i4","astype":"|i1"})", v2, "int32", "[100,90,110]");
  EXPECT_EQ(narrow.elements, "[100,-10,20]");
  EXPECT_EQ(narrow.spec.type.name(), "int8");
  EXPECT_EQ(narrow.decoded, "[100,90,110]");
  EXPECT_EQ(through("delta", "{}", v2, "bool", "[true,true,false]").elements, "[true,false,true]");
  EXPECT_EQ(through("delta", R"({"dtype":"f4"})", v2, "float32", "[1.5,2.0]").elements, "[1.5,0.5]");
  EXPECT_EQ(through("delta", "{}", v2, "float16", "[1.5,2.0]").elements, "[1.5,0.5]");
  // The byte order of astype is kept for the bytes that follow.
  const ArraySpec spec = spec_of("int16", {2});
  EXPECT_EQ(array_codec("delta", R"({"dtype":"<i2","astype":">i2"})", v2)
                ->bind(spec)
                ->encoded_spec(spec)
                .type.byte_order(),
            ByteOrder::big);
  EXPECT_FALSE(array_codec("delta", "{}", v2)->encoded_spec(spec).fill.is_undefined());
  ArraySpec seven = spec;
  seven.fill = FillValue::from_v3(Json(7), spec.type);
  EXPECT_TRUE(array_codec("delta", "{}", v2)->encoded_spec(seven).fill.is_undefined());
  EXPECT_ERROR(array_codec("delta", R"({"dtype":"<i4"})", v2)->bind(spec), ErrorCode::invalid_metadata,
               "found int16");
  EXPECT_ERROR(array_codec("delta", "{}", v2)->bind(spec_of("complex64", {1})),
               ErrorCode::unsupported_data_type, "complex64");
  EXPECT_ERROR(array_codec("delta", R"({"astype":"<c8"})", v2)->bind(spec), ErrorCode::unsupported_data_type,
               "differences");
}

TEST(Filters, DeltaAddsUpFloatsInThePromotedType) {
  const auto last = [](const std::string& type, const std::string& astype, const std::string& differences) {
    const Json list =
        Json::parse(decode_as("delta", R"({"astype":")" + astype + "\"}", v2, type, differences));
    return list.as_array().back().as_double();
  };
  // In float32 100000000 + 1 is 100000000 again and again; in float64 it comes to 100000007, which float32 has as 100000008.
  const std::string differences = "[100000000,1,1,1,1,1,1,1]";
  EXPECT_NEAR(last("float32", "<f4", differences), 1e8, 1);
  EXPECT_NEAR(last("float32", "<f8", differences), 1e8 + 8, 3);
  EXPECT_NEAR(last("float32", "<i4", differences), 1e8 + 8, 3);
  EXPECT_EQ(last("float16", "<f2", "[2048,1,1]"), 2048);
  EXPECT_EQ(last("float16", "<u2", "[2048,1,1]"), 2050);
}

TEST(Filters, OtherByteOrderThanTheArray) {
  // numcodecs takes the bytes as they lie: big-endian 1, 2 read as little-endian 256, 512.
  const DataType big = DataType::parse(">i2");
  const Encoded swapped = through("delta", R"({"dtype":"<i2"})", v2, big, "[1,2]");
  EXPECT_EQ(swapped.elements, "[256,256]");
  EXPECT_EQ(swapped.decoded, "[1,2]");
  EXPECT_EQ(through("delta", R"({"dtype":">i2"})", v2, big, "[1,2]").elements, "[1,1]");
}

TEST(Filters, FixedScaleOffset) {
  const Encoded plain =
      through("fixedscaleoffset", R"({"offset":1000,"scale":10,"dtype":"<f8","astype":"|u1"})", v2, "float64",
              "[1000,1000.11,1000.15,1000.25]");
  EXPECT_EQ(plain.elements, "[0,1,1,2]");  // 1.5 comes out a little below: 1000.15 is no double
  EXPECT_EQ(plain.decoded, "[1000.0,1000.1,1000.1,1000.2]");
  // The C cast wraps.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":0,"scale":1,"astype":"|u1"})", v2, "float64", "[256,257,-1]")
          .elements,
      "[0,1,255]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":0,"scale":1,"astype":"<u8"})", v2, "float64", "[1e19,-1]")
          .elements,
      "[10000000000000000000,18446744073709551615]");
  EXPECT_EQ(through("fixedscaleoffset", R"({"offset":0,"scale":1,"astype":"<i8"})", v2, "float64",
                    R"(["NaN",1e300])")
                .elements,
            "[-9223372036854775808,-9223372036854775808]");
  // float32 stays float32: 16777217 is not to be had, neither before nor after.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":1,"scale":1,"astype":"<i4"})", v2, "float32", "[16777216]")
          .elements,
      "[16777215]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":-1,"scale":1,"astype":"<i4"})", v2, "float32", "[16777216]")
          .elements,
      "[16777216]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":-1.0,"scale":1,"astype":"<i4"})", v2, "int32", "[16777216]")
          .elements,
      "[16777217]");
  // Integers with integer parameters wrap in their own type; with a float they do not.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":10,"scale":2,"astype":"<i4"})", v2, "uint8", "[5]").elements,
      "[246]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":10.0,"scale":2,"astype":"<i4"})", v2, "uint8", "[5]").elements,
      "[-10]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":-1,"scale":2,"astype":"<i4"})", v2, "uint8", "[5]").elements,
      "[12]");
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":1,"scale":2.5,"astype":"<i4"})", v2, "int16", "[6]").elements,
      "[12]");
  EXPECT_EQ(through("fixedscaleoffset", R"({"offset":0,"scale":3,"astype":"<i2"})", v2, "int16", "[20000]")
                .elements,
            "[-5536]");
  // Half to even.
  EXPECT_EQ(
      through("fixedscaleoffset", R"({"offset":0,"scale":1})", v2, "float64", "[0.5,1.5,2.5,-0.5]").elements,
      "[0.0,2.0,2.0,-0.0]");
  EXPECT_EQ(through("fixedscaleoffset", R"({"offset":0.5,"scale":2})", v2, "float16", "[1.0]").elements,
            "[1.0]");
  for (const char* bad : {R"({"scale":1})", R"({"offset":1})", R"({"offset":1,"scale":0})",
                          R"({"offset":"a","scale":1})", R"({"offset":1,"scale":1,"dtype":"zz"})"})
    EXPECT_ERROR(make_codec("fixedscaleoffset", bad, v2), ErrorCode::invalid_metadata, "fixedscaleoffset");
  EXPECT_ERROR(array_codec("fixedscaleoffset", R"({"offset":1,"scale":1})", v2)->bind(spec_of("bool", {1})),
               ErrorCode::unsupported_data_type, "bool");
  EXPECT_ERROR(array_codec("fixedscaleoffset", R"({"offset":1,"scale":1})", v2)->bind(spec_of("int4", {1})),
               ErrorCode::unsupported_data_type, "int4");
}

TEST(Filters, Quantize) {
  EXPECT_EQ(through("quantize", R"({"digits":1,"dtype":"<f8"})", v2, "float64", "[0.1,1.23456]").elements,
            "[0.125,1.25]");
  EXPECT_EQ(through("quantize", R"({"digits":3,"dtype":"<f8"})", v2, "float64", "[0.1]").elements,
            "[0.099609375]");
  EXPECT_EQ(through("quantize", R"({"digits":-1})", v2, "float64", "[13,20]").elements, "[16.0,16.0]");
  EXPECT_EQ(through("quantize", R"({"digits":1,"dtype":"<f4","astype":"<f2"})", v2, "float32", "[0.1]")
                .spec.type.name(),
            "float16");
  EXPECT_EQ(through("quantize", R"({"digits":1})", v2, "float16", "[0.1]").elements, "[0.125]");
  EXPECT_ERROR(make_codec("quantize", "{}", v2), ErrorCode::invalid_metadata, "digits");
  EXPECT_ERROR(array_codec("quantize", R"({"digits":1})", v2)->bind(spec_of("int32", {1})),
               ErrorCode::unsupported_data_type, "int32");
}

TEST(Filters, AsType) {
  EXPECT_EQ(
      through("astype", R"({"encode_dtype":"<i2","decode_dtype":"<f8"})", v2, "float64", "[1.9,-1.9,70000]")
          .elements,
      "[1,-1,4464]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"|b1"})", v2, "int32", "[0,5]").elements, "[false,true]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"<f4"})", v2, "complex128", "[[1.5,2.0]]").decoded,
            "[[1.5,0.0]]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"<i8"})", v2, "<M8[s]", "[5]").elements, "[5]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"float8_e5m2"})", v2, "float32", "[1.5]").elements, "[1.5]");
  EXPECT_EQ(through("astype", R"({"encode_dtype":"int4"})", v2, "int32", "[9,-1]").elements, "[-7,-1]");
  EXPECT_ERROR(make_codec("astype", "{}", v2), ErrorCode::invalid_metadata, "encode_dtype");
  EXPECT_ERROR(array_codec("astype", R"({"encode_dtype":"|S4"})", v2)->bind(spec_of("int32", {1})),
               ErrorCode::unsupported_data_type, "cannot cast");
  EXPECT_ERROR(array_codec("astype", R"({"encode_dtype":"<M8[ms]"})", v2)->bind(spec_of("<M8[s]", {1})),
               ErrorCode::unsupported_data_type, "units");
  EXPECT_ERROR(
      array_codec("astype", R"({"encode_dtype":"<i4"})", v2)->bind(spec_of(DataType(TypeId::string), {1})),
      ErrorCode::invalid_metadata, "string");
}

TEST(Filters, PackBits) {
  const Encoded packed = through("packbits", "{}", v2, "bool", "[true,false,false,true]");
  EXPECT_EQ(packed.elements, "[4,144]");
  EXPECT_EQ(packed.spec.shape, (Shape{2}));
  EXPECT_EQ(through("packbits", "{}", v2, "uint8", "[7,0]").elements, "[6,128]");
  EXPECT_ERROR(array_codec("packbits", "{}", v2)->bind(spec_of("int16", {1})),
               ErrorCode::unsupported_data_type, "bool");
  const ArraySpec spec = spec_of("bool", {4});
  const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
  const NDArray wrong = array_of("uint8", "[3,144]");
  EXPECT_ERROR(array_codec("packbits", "{}", v2)->bind(spec)->decode(wrong.view(), decoded.view(), {}),
               ErrorCode::corrupt_chunk, "3 padding bits");
}

TEST(Filters, Categorize) {
  const std::string labels =
      R"({"labels":["foo","b\u00e4r","\u20ac\ud83d\ude00"],"dtype":"|O","astype":"|u1"})";
  for (const char* name : {"categorize", "numcodecs.categorize"}) {
    const ZarrFormat format = std::string(name) == "categorize" ? v2 : v3;
    const NDArray words =
        strings(TypeId::string, {4}, {"b\u00e4r", "\u20ac\U0001F600", "none of them", "foo"});
    const ArraySpec spec = spec_of(words.type(), words.shape());
    const auto codec = array_codec(name, labels, format)->bind(spec);
    const NDArray codes = NDArray::allocate(codec->encoded_spec(spec).type, spec.shape);
    codec->encode(words.view(), codes.view(), {});
    EXPECT_EQ(elements_of(codes.view()), "[2,3,0,1]");
    const NDArray decoded = NDArray::allocate(spec.type, spec.shape);
    codec->decode(codes.view(), decoded.view(), {});
    EXPECT_TRUE(same_elements(
        decoded.view(), strings(TypeId::string, {4}, {"b\u00e4r", "\u20ac\U0001F600", "", "foo"}).view()));
    codes.view().data[0] = std::byte{9};
    EXPECT_ERROR(codec->decode(codes.view(), decoded.view(), {}), ErrorCode::corrupt_chunk, "found code 9");
  }
  // Fixed-width text: too long a label is cut, as NumPy does it.
  const Encoded fixed =
      through("categorize", R"({"labels":["foo","b\u00e4r\u20ac\ud83d\ude00"],"dtype":"<U4","astype":"<i2"})",
              v2, "<U5", R"(["foo","b\u00e4r\u20ac\ud83d\ude00","x"])");
  EXPECT_EQ(fixed.elements, "[1,2,0]");
  EXPECT_EQ(decode_as("categorize", R"({"labels":["foo","longer"]})", v2, "<U3", "[1,2,0]"),
            R"(["foo","lon",""])");
  // Objects are JSON texts in memory.
  const NDArray objects = strings(TypeId::object, {3}, {"\"foo\"", "7", ""});
  const ArraySpec spec = spec_of(objects.type(), objects.shape());
  const auto codec = array_codec("categorize", R"({"labels":["foo"]})", v2)->bind(spec);
  const NDArray codes = NDArray::allocate(codec->encoded_spec(spec).type, spec.shape);
  codec->encode(objects.view(), codes.view(), {});
  EXPECT_EQ(elements_of(codes.view()), "[1,0,0]");
  codec->decode(codes.view(), objects.view(), {});
  EXPECT_EQ(*reinterpret_cast<std::string*>(objects.view().data), "\"foo\"");

  EXPECT_ERROR(make_codec("categorize", "{}", v2), ErrorCode::invalid_metadata, "labels");
  EXPECT_ERROR(make_codec("categorize", R"({"labels":[1]})", v2), ErrorCode::invalid_metadata, "texts only");
  EXPECT_ERROR(make_codec("categorize", R"({"labels":[],"astype":"<f4"})", v2), ErrorCode::invalid_metadata,
               "astype");
  std::string many = R"({"labels":["a")";
  for (int k = 0; k < 255; ++k) many += ",\"" + std::to_string(k) + "\"";
  EXPECT_ERROR(make_codec("categorize", many + "]}", v2), ErrorCode::invalid_metadata, "256 labels");
  EXPECT_ERROR(array_codec("categorize", R"({"labels":[]})", v2)->bind(spec_of("int8", {1})),
               ErrorCode::unsupported_data_type, "text");
}

TEST(Filters, OnBytes) {
  const auto on_bytes = [](const std::string& name, const std::string& configuration) {
    const auto filter = array_codec(name, configuration, v2);
    CodecSpec spec = filter->spec();
    return make_array_filter_on_bytes(filter, spec);
  };
  const auto round_trip = [](const std::shared_ptr<const BytesToBytesCodec>& codec,
                             const std::vector<std::byte>& bytes, const std::vector<std::byte>& wanted) {
    const Buffer encoded = codec->encode(bytes, {});
    EXPECT_EQ(to_bytes(encoded.host_span()), wanted);
    EXPECT_EQ(codec->encoded_size(bytes.size()), wanted.size());
    ByteOutput output(bytes.size(), bytes.size());
    codec->decode(encoded.host_span(), output, {});
    EXPECT_EQ(to_bytes(output.bytes()), bytes);
  };
  round_trip(on_bytes("delta", R"({"dtype":">i2"})"), to_bytes({0, 1, 0, 3, 1, 0}),
             to_bytes({0, 1, 0, 2, 0, 253}));
  round_trip(on_bytes("delta", R"({"dtype":"|u1","astype":">u2"})"), to_bytes({1, 3}),
             to_bytes({0, 1, 0, 2}));
  round_trip(on_bytes("astype", R"({"decode_dtype":"|u1","encode_dtype":"<u2"})"), to_bytes({1, 3}),
             to_bytes({1, 0, 3, 0}));
  round_trip(on_bytes("packbits", "{}"), to_bytes({1, 0, 1}), to_bytes({5, 0xA0}));
  round_trip(on_bytes("packbits", "{}"), {}, to_bytes({0}));

  const auto decode = [](const std::shared_ptr<const BytesToBytesCodec>& codec,
                         std::initializer_list<int> bytes) {
    ByteOutput output(std::nullopt, 1000);
    codec->decode(to_bytes(bytes), output, {});
  };
  EXPECT_ERROR(decode(on_bytes("delta", R"({"dtype":"<i4"})"), {1, 2, 3}), ErrorCode::corrupt_chunk,
               "whole number");
  EXPECT_ERROR(decode(on_bytes("packbits", "{}"), {8, 1}), ErrorCode::corrupt_chunk, "8 padding bits");
  EXPECT_ERROR(decode(on_bytes("packbits", "{}"), {}), ErrorCode::corrupt_chunk, "padding bits");
  EXPECT_ERROR(on_bytes("bitround", R"({"keepbits":3})"), ErrorCode::unsupported_codec,
               "states no data type");
  EXPECT_ERROR(on_bytes("categorize", R"({"labels":[],"dtype":"|O"})"), ErrorCode::unsupported_codec,
               "states no data type");
}

}  // namespace
}  // namespace zarrive
