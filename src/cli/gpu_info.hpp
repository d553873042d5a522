// What `zarrive info --gpu` prints.
#pragma once

#include "cli/session.hpp"

namespace zarrive::cli {

void print_gpu_info(Session& session, bool json);

}  // namespace zarrive::cli
