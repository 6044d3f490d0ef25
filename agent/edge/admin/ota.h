// YurtHub's endpoints for pods on the admin listener: the pods of this node, and upgrades over the
// air (OTA).
//
// GET /pods                                                        a PodList from the cache
// POST /openyurt.io/v1/namespaces/{namespace}/pods/{pod}/upgrade   replaces the pod now
// POST /openyurt.io/v1/namespaces/{namespace}/pods/{pod}/imagepull pulls its next images
//
// The POSTs need the cloud, and a caller that may use the node's credentials or has its own. Only
// the first kind of caller may upgrade a static pod: its manifest is a file of root's, and no API
// server can tell who else may change it. Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>

#include "agent/edge/admin/static_pods.h"
#include "agent/edge/cache/scope_table.h"
#include "agent/edge/forward/uplink.h"
#include "platform/http/message.h"
#include "sync/node/ota.h"

namespace holdfast::agent {

class Ota {
 public:
  struct Settings {
    std::string node_name;
    Duration deadline;         // of each request to the API server
    StaticPodFolders folders;  // of the manifests that are replaced
  };
  Ota(Settings settings, ScopeTable& scopes, Uplink& uplink, const Clock& clock);

  // Whether `path` is one of the paths above, whatever the method.
  [[nodiscard]] static bool serves(std::string_view path);
  // Whether `path` is one of the paths of the POSTs, whatever the method.
  [[nodiscard]] static bool upgrades(std::string_view path);
  // Answers a request whose caller has passed RequestGate::refuse_admin().
  asio::awaitable<http::Response> handle(const http::Request& request);

 private:
  struct Target;
  [[nodiscard]] static std::optional<Target> target_of(std::string_view path);
  [[nodiscard]] http::Response pods() const;
  asio::awaitable<http::Response> begin(Target target, std::string authorization);
  asio::awaitable<http::Response> swap_manifest(std::string namespace_name,
                                                sync::node::OtaDecision decided);

  const Settings settings_;
  ScopeTable& scopes_;
  Uplink& uplink_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
