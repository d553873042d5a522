// The suite that every store passes. Adding a store is one line in the list in store_suite_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "zarrive/store.hpp"

namespace zarrive::test {

using testing::code_of;
using Values = std::map<std::string, std::string>;

// A store under test and what must live as long as it does.
struct StoreUnderTest {
  std::shared_ptr<Store> store;
  std::shared_ptr<void> keep = {};
};

struct StoreCase {
  std::string name;
  std::function<StoreUnderTest(const Values& initial)> make;  // a store that holds exactly `initial`
  bool exclusive = true;                                      // set_if_absent has one winner among threads
  bool generations = true;  // results carry a generation that changes with the value
  bool tree = false;        // keys are files: no key may be a directory of another
};

inline void PrintTo(const StoreCase& store, std::ostream* out) { *out << store.name; }

class StoreSuite : public ::testing::TestWithParam<StoreCase> {
 protected:
  Store& open(const Values& initial = {}) {
    under_test_ = GetParam().make(initial);
    return *under_test_.store;
  }
  // For tests that write: false (and the test is skipped) when the store is read-only.
  bool writable() const { return under_test_.store->capabilities().writable; }

  StoreUnderTest under_test_;
};

Buffer bytes(const std::string& text);
// `size` bytes that depend on position and seed.
std::string pattern(std::size_t size, unsigned seed);
// The value of a key, "<missing>" when it is not there.
std::string text_of(Store& store, const std::string& key, const ByteRange& range = {});
// Everything the store holds.
Values contents(Store& store);

}  // namespace zarrive::test
