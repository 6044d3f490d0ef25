// The PodSource that reads from the API: lists and watches the pods of this node and the ConfigMaps
// and Secrets that they refer to.
// Threading: the loop's thread only. Call stop() before it is destroyed.

#pragma once

#include <string>

#include "agent/node/config_objects.h"
#include "agent/node/pod_list.h"
#include "agent/node/pod_source.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::node {

class ApiPodSource final : public PodSource, private ListWatchSource {
 public:
  // `client` and `clock` are borrowed and outlive it.
  // `selector` is a label selector: the source has no other pods; empty: all of the node.
  ApiPodSource(asio::any_io_executor executor, std::string node_name, std::string selector,
               ApiClient& client, const Clock& clock);

  // Begins to list and watch.
  void start();
  // Ends all watches and waits for their end.
  asio::awaitable<void> stop();

  [[nodiscard]] sync::runtime::DesiredPods desired() const override { return pods_.desired(); }
  [[nodiscard]] loop::Event& changed() override { return changed_; }
  [[nodiscard]] sync::runtime::Lookup<sync::ConfigMap> config_map(
      std::string_view namespace_name, std::string_view name) const override {
    return configs_.config_map(namespace_name, name);
  }
  [[nodiscard]] sync::runtime::Lookup<sync::Secret> secret(std::string_view namespace_name,
                                                           std::string_view name) const override {
    return configs_.secret(namespace_name, name);
  }

 private:
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;

  std::string node_name_;
  std::string selector_;
  ApiClient& client_;
  const Clock& clock_;
  Random random_;
  loop::Event changed_;
  PodList pods_;
  ConfigObjects configs_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::node
