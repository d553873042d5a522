// zarr-python's bulk calls: getitems, setitems and get_partial_values over batches.
#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "store/key.hpp"
#include "zarrive/store.hpp"

namespace zarrive {

namespace {

// The contexts of a batch, annotated when the store wants to. Annotated contexts are copies, kept for the time of the call.
class BatchContexts {
 public:
  BatchContexts(Store& store, const ContextsRef& contexts)
      : store_(store), contexts_(contexts), annotates_(store.capabilities().annotates) {}

  const Context* of(const std::string& key) {
    const Context* context = contexts_.find(key);
    if (!annotates_) return context;
    Context& copy = copies_.emplace_back(context ? *context : Context{});
    if (!copy.key) copy.key = key;
    store_.annotate(copy);
    return &copy;
  }

  // Two keys whose values would land in the same memory, as happens when a ConstantMap carries a destination.
  const Context* of_distinct(const std::string& key) {
    const Context* context = of(key);
    if (context && context->destination && !destinations_.insert(context->destination->data).second)
      throw Error(ErrorCode::invalid_argument,
                  "the contexts of several keys have the same destination; give each key its own",
                  {.store = store_.name(), .node = {}, .key = key});
    return context;
  }

 private:
  Store& store_;
  const ContextsRef& contexts_;
  const bool annotates_;
  std::deque<Context> copies_;
  std::set<const std::byte*> destinations_;
};

}  // namespace

std::map<std::string, Buffer> getitems(Store& store, std::span<const std::string> keys,
                                       const GetItemsOptions& options) {
  std::vector<std::string> distinct(keys.begin(), keys.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());

  BatchContexts contexts(store, options.contexts);
  std::vector<GetRequest> batch;
  batch.reserve(distinct.size());
  for (const std::string& key : distinct)
    batch.push_back({.key = key, .ranges = {}, .context = contexts.of_distinct(key)});

  std::vector<std::optional<Buffer>> values(batch.size());  // each element is touched by one completion only
  store.get(
      batch,
      [&](std::size_t i, GetResult&& result) {
        result.rethrow();
        if (result.status == GetStatus::found) values[i] = std::move(result.values.at(0));
      },
      options.get);

  std::map<std::string, Buffer> found;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (values[i]) found.emplace_hint(found.end(), std::move(distinct[i]), std::move(*values[i]));
  return found;
}

std::map<std::string, Buffer> getitems(Store& store, std::initializer_list<std::string> keys,
                                       const GetItemsOptions& options) {
  return getitems(store, std::span<const std::string>(keys.begin(), keys.size()), options);
}

void setitems(Store& store, const std::map<std::string, Buffer>& values, const SetItemsOptions& options) {
  BatchContexts contexts(store, options.contexts);
  std::vector<SetRequest> batch;
  batch.reserve(values.size());
  for (const auto& [key, value] : values)
    batch.push_back({.key = key, .value = value, .produce = {}, .context = contexts.of(key)});
  store.set(batch, options.set);
}

std::vector<std::optional<Buffer>> get_partial_values(Store& store, std::span<const KeyRange> key_ranges,
                                                      const GetItemsOptions& options) {
  // One request a key with all its ranges, so that the store can read neighbours as one.
  BatchContexts contexts(store, options.contexts);
  std::vector<GetRequest> batch;
  std::vector<std::vector<std::size_t>> places;  // of each request's values, in the result
  std::unordered_map<std::string_view, std::size_t> request_of;
  for (std::size_t i = 0; i < key_ranges.size(); ++i) {
    const KeyRange& wanted = key_ranges[i];
    const auto [it, fresh] = request_of.try_emplace(wanted.key, batch.size());
    if (fresh) {
      batch.push_back({.key = wanted.key, .ranges = {}, .context = contexts.of_distinct(wanted.key)});
      places.emplace_back();
    }
    batch[it->second].ranges.push_back(wanted.range);
    places[it->second].push_back(i);
  }

  std::vector<std::optional<Buffer>> values(key_ranges.size());
  store.get(
      batch,
      [&](std::size_t i, GetResult&& result) {
        result.rethrow();
        if (result.status != GetStatus::found) return;
        for (std::size_t k = 0; k < places[i].size(); ++k)
          values[places[i][k]] = std::move(result.values.at(k));
      },
      options.get);
  return values;
}

}  // namespace zarrive
