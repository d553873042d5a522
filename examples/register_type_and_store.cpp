// A data type and a store of one's own, registered at run time and then used like the built-in ones.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "zarrive/zarrive.hpp"

namespace {

// --- a data type: red, green and blue in three bytes ---

std::vector<std::byte> parse_colour(const zarrive::Json& fill) {
  std::vector<std::byte> element;
  for (const zarrive::Json& part : fill.as_array()) {
    const auto value = part.to_uint64();
    if (!value || *value > 255)
      throw zarrive::Error(zarrive::ErrorCode::invalid_metadata,
                           "rgb24: found " + part.dump() + ", expected 0 to 255");
    element.push_back(static_cast<std::byte>(*value));
  }
  if (element.size() != 3)
    throw zarrive::Error(zarrive::ErrorCode::invalid_metadata,
                         "rgb24: found " + fill.dump() + ", expected three numbers");
  return element;
}

zarrive::Json format_colour(const std::byte* element) {
  zarrive::JsonArray parts;
  for (int i = 0; i < 3; ++i) parts.emplace_back(std::to_integer<int>(element[i]));
  return zarrive::Json(std::move(parts));
}

// --- a store: a map, with nothing but the single-key calls; the base class makes batches of them ---

class MapStore final : public zarrive::Store {
 public:
  explicit MapStore(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }

 protected:
  zarrive::GetResult do_get_one(const zarrive::GetRequest& request) override {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(request.key);
    if (found == values_.end()) return {};  // missing
    return result_of(request, found->second);
  }

  void do_set_one(const std::string& key, const zarrive::Buffer& value, const zarrive::Context*,
                  zarrive::Durability) override {
    const std::lock_guard lock(mutex_);
    values_[key] = zarrive::Buffer::copy_of(value.host_span());
  }

  void do_erase_one(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    values_.erase(key);
  }

  std::vector<std::string> do_list(const std::string& prefix) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> keys;
    for (const auto& [key, value] : values_)
      if (prefix.empty() || key.starts_with(prefix + "/")) keys.push_back(key);
    return keys;
  }

 private:
  std::string name_;
  std::mutex mutex_;
  std::map<std::string, zarrive::Buffer> values_;
};

// The same URL is the same store.
std::shared_ptr<zarrive::Store> open_map_store(std::string_view url, const zarrive::OpenStoreOptions&) {
  static std::map<std::string, std::shared_ptr<zarrive::Store>, std::less<>> stores;
  auto& store = stores[std::string(url)];
  if (!store) store = std::make_shared<MapStore>(std::string(url));
  return store;
}

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

}  // namespace

int main() {
  zarrive::CustomType rgb24;
  rgb24.name = "rgb24";
  rgb24.item_size = 3;
  rgb24.parse_fill = parse_colour;
  rgb24.format_element = format_colour;
  zarrive::register_data_type(rgb24);
  zarrive::register_store_scheme("map", open_map_store);

  {
    zarrive::Array picture = zarrive::create_array("map://pictures", "flag",
                                                   {.shape = {4, 6},
                                                    .data_type = "rgb24",
                                                    .chunks = {2, 6},
                                                    .fill_value = zarrive::Json::parse("[255, 255, 255]")});
    picture.write_value({zarrive::slice(0, 2), zarrive::slice(0, 3)}, zarrive::Json::parse("[0, 40, 104]"));
  }

  const zarrive::Array picture = zarrive::open_array("map://pictures", "flag");
  check(picture.data_type().name() == "rgb24", "the name of the type");
  const zarrive::NDArray pixels = picture.read();
  for (std::uint64_t y = 0; y < 4; ++y) {
    for (std::uint64_t x = 0; x < 6; ++x) {
      const std::byte* pixel = pixels.view().data + 3 * (6 * y + x);
      const std::string text = zarrive::element_to_json(picture.data_type(), pixel).dump();
      check(text == (y < 2 && x < 3 ? "[0, 40, 104]" : "[255, 255, 255]"), "a pixel");
      std::printf("%s%s", text.c_str(), x == 5 ? "\n" : " ");
    }
  }
  check(picture.stored_chunk_count() == 1, "the chunk of nothing but fill was stored");

  bool refused = false;
  try {
    zarrive::create_array("map://pictures", "bad",
                          {.shape = {1}, .data_type = "rgb24", .fill_value = zarrive::Json::parse("[1, 2]")});
  } catch (const zarrive::Error& error) {
    refused = true;
    std::printf("%s\n", error.what());
  }
  check(refused, "a fill value of two numbers was taken");
  return 0;
}
