#include "support/errors.hpp"

namespace zarrive::testing {

ErrorCode code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a zarrive::Error: " << error.what();
    return ErrorCode::internal;
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

}  // namespace zarrive::testing
