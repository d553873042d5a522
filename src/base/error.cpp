#include "zarrive/error.hpp"

namespace zarrive {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::already_exists: return "already_exists";
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::out_of_bounds: return "out_of_bounds";
    case ErrorCode::invalid_metadata: return "invalid_metadata";
    case ErrorCode::unsupported_codec: return "unsupported_codec";
    case ErrorCode::unsupported_data_type: return "unsupported_data_type";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::corrupt_chunk: return "corrupt_chunk";
    case ErrorCode::corrupt_store: return "corrupt_store";
    case ErrorCode::permission: return "permission";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::resource_limit: return "resource_limit";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

struct Error::State {
  ErrorCode code;
  std::string message;
  ErrorPlace place;
  std::string what;
};

Error::Error(ErrorCode code, std::string message, ErrorPlace place) {
  auto state = std::make_shared<State>(State{code, std::move(message), std::move(place), {}});
  state->what = "[" + std::string(to_string(code)) + "] ";
  for (const std::string* part : {&state->place.store, &state->place.node, &state->place.key})
    if (!part->empty()) state->what += *part + ": ";
  state->what += state->message;
  state_ = std::move(state);
}

ErrorCode Error::code() const noexcept { return state_->code; }
const std::string& Error::message() const noexcept { return state_->message; }
const ErrorPlace& Error::place() const noexcept { return state_->place; }
const char* Error::what() const noexcept { return state_->what.c_str(); }

Error Error::with(const ErrorPlace& place) const {
  ErrorPlace merged = state_->place;
  if (merged.store.empty()) merged.store = place.store;
  if (merged.node.empty()) merged.node = place.node;
  if (merged.key.empty()) merged.key = place.key;
  return Error(state_->code, state_->message, std::move(merged));
}

}  // namespace zarrive
