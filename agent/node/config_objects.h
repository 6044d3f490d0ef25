// The ConfigMaps and Secrets that this node's pods refer to. Each is kept up to date by a watch of
// that one object, as a kubelet does it, because a node is not allowed to list all of them.
// Threading: the loop's thread only. Call stop() before it is destroyed.

#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "agent/client/list_watch.h"
#include "platform/loop/tasks.h"
#include "sync/autonomy/references.h"
#include "sync/runtime/config_source.h"

namespace holdfast::agent::node {

class ConfigObjects {
 public:
  // All are borrowed and outlive it. `changed` is called after every change.
  ConfigObjects(asio::any_io_executor executor, ListWatchSource& source, const Clock& clock,
                Random& random, std::function<void()> changed);
  ~ConfigObjects();
  ConfigObjects(const ConfigObjects&) = delete;
  ConfigObjects& operator=(const ConfigObjects&) = delete;

  // Watches the ConfigMaps and Secrets among `wanted` from now on, and no others.
  void follow(const sync::autonomy::NeededObjects& wanted);

  // NeverReceived until the object's watch has delivered its state, and while the object cannot be
  // decoded; Absent if it does not exist.
  [[nodiscard]] sync::runtime::Lookup<sync::ConfigMap> config_map(std::string_view namespace_name,
                                                                  std::string_view name) const;
  [[nodiscard]] sync::runtime::Lookup<sync::Secret> secret(std::string_view namespace_name,
                                                           std::string_view name) const;

  [[nodiscard]] std::size_t size() const { return watched_.size(); }

  // Ends all watches and waits for their end.
  asio::awaitable<void> stop();

 private:
  // One watched object. It has its own loop::Tasks, so that its watch can end separately.
  struct Watched;

  template <class T>
  [[nodiscard]] sync::runtime::Lookup<T> find(std::string resource, std::string_view namespace_name,
                                              std::string_view name) const;

  asio::any_io_executor executor_;
  ListWatchSource& source_;
  const Clock& clock_;
  Random& random_;
  std::function<void()> changed_;
  std::map<sync::autonomy::NeededObject, std::unique_ptr<Watched>> watched_;
  std::list<std::unique_ptr<Watched>> ending_;  // cancelled, but maybe still running
};

// The back-off of list-watches. It is short: the edge agent is on this machine, so a try costs
// little, and pods wait for the result.
[[nodiscard]] sync::pacing::BackoffConfig local_backoff();

}  // namespace holdfast::agent::node
