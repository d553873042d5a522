#include "cli/undo.hpp"

#include <utility>

#include "cli/output.hpp"
#include "zarrive/error.hpp"
#include "zarrive/store.hpp"

namespace zarrive::cli {

namespace {

bool is_node(Store& store, const std::string& path) {
  for (const char* name : {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}) {
    if (store.exists(join_key(path, name))) return true;
  }
  return false;
}

bool is_empty(Store& store) {
  if (!store.capabilities().listable) return false;
  const DirectoryListing listing = store.list_dir();
  return listing.keys.empty() && listing.prefixes.empty();
}

}  // namespace

NewNode::NewNode(std::shared_ptr<Store> store, std::string path, bool overwrite)
    : store_(std::move(store)), path_(std::move(path)) {
  const bool there = is_node(*store_, path_);
  if (path_.empty() && !there) {
    const bool empty = is_empty(*store_);
    if (overwrite && !empty) {
      throw Error(ErrorCode::invalid_argument,
                  "this is no Zarr array or group, and not empty: --overwrite would delete what is in it",
                  {.store = store_->name()});
    }
    kept_ = !empty;
    return;
  }
  kept_ = there && !overwrite;  // creating it will fail, and must not cost what is there
}

NewNode::~NewNode() {
  if (kept_) return;
  const Tidying tidying;
  try {
    store_->erase_prefix(path_);
  } catch (...) {  // the first error is the one to report
  }
}

void warn_about_consolidated(Session& session, Store& store, const std::string& path) {
  for (std::string at = path;;) {
    bool consolidated = store.exists(join_key(at, ".zmetadata"));
    if (const auto document = store.get(join_key(at, "zarr.json")); document && !consolidated) {
      const Json json = Json::parse(document->text());
      const Json* const member = json.find("consolidated_metadata");
      consolidated = member && !member->is_null();
    }
    if (consolidated) {
      session.warn(store.name() + ": the consolidated metadata of \"/" + at +
                   "\" does not have this change; run `zarrive consolidate`");
    }
    if (at.empty()) return;
    const std::size_t slash = at.rfind('/');
    at = slash == std::string::npos ? "" : at.substr(0, slash);
  }
}

}  // namespace zarrive::cli
