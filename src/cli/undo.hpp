// Care for what is in a store already: nothing is deleted by mistake, nothing half-made stays.
#pragma once

#include <memory>
#include <string>

#include "cli/session.hpp"

namespace zarrive::cli {

// Made before a node is created; erases it, with all below it, unless keep() was called. A node that was there before, or one at the root of
// a store that held other things, is left alone: what is ours cannot be told from what is not.
// `overwrite`: the node is to replace what is there, which is then gone anyway. Error(invalid_argument) when that would empty a folder that
// is no Zarr store.
class NewNode {
 public:
  NewNode(std::shared_ptr<Store> store, std::string path, bool overwrite);
  ~NewNode();
  NewNode(const NewNode&) = delete;
  NewNode& operator=(const NewNode&) = delete;

  void keep() { kept_ = true; }

 private:
  std::shared_ptr<Store> store_;
  std::string path_;
  bool kept_ = false;
};

// Warns when a group at or above `path` has consolidated metadata, which a change of the node has not reached.
void warn_about_consolidated(Session& session, Store& store, const std::string& path);

}  // namespace zarrive::cli
