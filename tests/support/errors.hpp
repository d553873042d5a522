// What errors a call throws.
//
// EXPECT_ERROR(call, code, part of what()): the call throws a zarrive::Error with this code whose text has this part.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "zarrive/error.hpp"

namespace zarrive::testing {

// The code of the Error that `body` throws; internal when it throws nothing or something else (the test fails too).
ErrorCode code_of(const std::function<void()>& body);

}  // namespace zarrive::testing

#define EXPECT_ERROR(call, wanted_code, wanted_part)                                                    \
  do {                                                                                                  \
    try {                                                                                               \
      (void)(call);                                                                                     \
      ADD_FAILURE() << #call " threw nothing";                                                          \
    } catch (const ::zarrive::Error& error) {                                                           \
      EXPECT_EQ(::zarrive::to_string(error.code()), ::zarrive::to_string(wanted_code)) << error.what(); \
      EXPECT_NE(std::string(error.what()).find(wanted_part), std::string::npos) << error.what();        \
    }                                                                                                   \
  } while (false)
