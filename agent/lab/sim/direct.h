// A kubelet's connection to the API server without an agent.

#pragma once

#include <optional>
#include <string>

#include "agent/lab/sim/kubelet_api.h"
#include "agent/lab/sim/scope.h"

namespace holdfast::agent::lab::sim {

class DirectApi final : public KubeletApi {
 public:
  DirectApi(Engine& engine, Server& server, Traffic& traffic, Link& link, std::string node);

  void renew_lease(const Life& life, WallTime now, Done done) override;
  void write(const Life& life, Request request, Done done) override;
  [[nodiscard]] NodePtr node() const override;
  void follow_pods(PodSink& sink) override;
  void unfollow_pods() override;
  [[nodiscard]] Link& link() override { return client_.link(); }

 private:
  void ping();

  Engine& engine_;
  Server& server_;
  std::string node_;
  NodeClient client_;
  std::optional<PodFeed> feed_;
  std::optional<Scope> pods_;
  std::optional<Scope> node_scope_;
  Life following_;
  std::optional<MonoTime> silent_since_;
};

}  // namespace holdfast::agent::lab::sim
