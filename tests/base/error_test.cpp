#include "zarrive/error.hpp"

#include <gtest/gtest.h>

namespace zarrive {
namespace {

TEST(Error, WhatNamesCodePlaceAndMessage) {
  Error e(ErrorCode::corrupt_chunk, "zstd frame ends after 4096 of 65536 bytes");
  EXPECT_STREQ(e.what(), "[corrupt_chunk] zstd frame ends after 4096 of 65536 bytes");
  Error placed = e.with({.store = "era5.zarr", .node = "t2m", .key = "c/3/0/1"});
  EXPECT_STREQ(placed.what(),
               "[corrupt_chunk] era5.zarr: t2m: c/3/0/1: zstd frame ends after 4096 of 65536 bytes");
}

TEST(Error, WithKeepsWhatIsAlreadyKnown) {
  Error e(ErrorCode::not_found, "no such node", {.key = "zarr.json"});
  Error placed = e.with({.store = "s", .key = "other"});
  EXPECT_EQ(placed.place().store, "s");
  EXPECT_EQ(placed.place().key, "zarr.json");
  EXPECT_EQ(placed.place().node, "");
}

TEST(Error, EveryCodeHasAName) {
  for (int c = 0; c <= static_cast<int>(ErrorCode::internal); ++c)
    EXPECT_NE(to_string(static_cast<ErrorCode>(c)), "unknown");
}

}  // namespace
}  // namespace zarrive
