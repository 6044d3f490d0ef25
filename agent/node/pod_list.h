// The pods of this node, from a list and watch of the API.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/client/list_watch.h"
#include "sync/autonomy/references.h"
#include "sync/runtime/desired_pods.h"

namespace holdfast::agent::node {

class PodList final : public ListWatchSink {
 public:
  // `changed` is called after every change.
  explicit PodList(std::function<void()> changed) : changed_(std::move(changed)) {}

  // NeverReceived until a complete list has arrived, and while one of the pods cannot be decoded:
  // such a pod must not be mistaken for a deleted one.
  [[nodiscard]] sync::runtime::DesiredPods desired() const;
  // All objects that the pods refer to.
  [[nodiscard]] sync::autonomy::NeededObjects references() const;

  void replace(std::vector<std::string> items, const std::string& version,
               const sync::wire::ScopeKind& kind) override;
  void apply(const sync::wire::WatchEvent& event) override;
  void bookmark(const std::string& /*version*/) override {}

 private:
  struct Entry {
    std::shared_ptr<const sync::Pod> pod;  // null: it cannot be decoded
    sync::autonomy::NeededObjects references;
  };
  using Entries = std::map<std::pair<std::string, std::string>, Entry>;  // by namespace and name

  // Decodes `bytes` into `entries`. Errors: corrupt; the object has no readable name and `entries`
  // is unchanged.
  static Status put(const std::string& bytes, Entries& entries);

  std::function<void()> changed_;
  bool complete_ = false;
  Entries entries_;
};

}  // namespace holdfast::agent::node
