#include "cli/session.hpp"
#include "zarrive/open_store.hpp"

namespace zarrive::cli {

std::shared_ptr<Store> open_to_read(const std::string& url) {
  return open_store(url, {.mode = OpenMode::read});
}
std::shared_ptr<Store> open_to_write(const std::string& url) {
  return open_store(url, {.mode = OpenMode::write});
}
std::shared_ptr<Store> open_to_create(const std::string& url) {
  return open_store(url, {.mode = OpenMode::create});
}

}  // namespace zarrive::cli
