#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "zarrive/error.hpp"

namespace zarrive {

// Runs f, which must throw an Error with this code and with `part` in its message.
template <class F>
void expect_error(ErrorCode code, const std::string& part, F f) {
  try {
    f();
    ADD_FAILURE() << "no error; expected " << to_string(code) << " with \"" << part << "\"";
  } catch (const Error& e) {
    EXPECT_EQ(to_string(e.code()), to_string(code)) << e.what();
    EXPECT_THAT(e.message(), ::testing::HasSubstr(part));
  }
}

}  // namespace zarrive
