// What a person does to the cluster with kubectl: cordon, drain, scale, rollout, delete.
//
// Threading: the loop's thread only. References are borrowed.

#pragma once

#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "agent/lab/scenario/scenario.h"
#include "sync/model/types.h"

namespace holdfast::agent::lab::cluster {

namespace asio = boost::asio;

// "/apis/apps/v1/namespaces/default/deployments"
[[nodiscard]] std::string collection_of(const Workload& workload);

// The workload that owns the pod, directly or through a ReplicaSet; nullptr if none does.
[[nodiscard]] const Workload* owner_of(const sync::Pod& pod,
                                       const std::vector<Workload>& workloads);

class ApiActions {
 public:
  // `pods` is a part of the queries for pods, "labelSelector=...", for a cluster that others use,
  // too: their pods are not seen then.
  ApiActions(ApiClient& client, const Clock& clock, std::string pods = {})
      : client_(client), clock_(clock), pods_query_(std::move(pods)) {}

  // Errors of all: those of the API server, with what was attempted.
  asio::awaitable<Status> cordon(std::string node, bool cordoned);
  // Evicts all pods of the node but those of DaemonSets, as kubectl drain does: where a budget
  // forbids it, it is tried again every `retry`, until all are evicted.
  asio::awaitable<Status> evict_all(std::string node, Duration retry);
  asio::awaitable<Status> scale(Workload workload, int replicas);
  // Changes the template, as kubectl rollout restart does.
  asio::awaitable<Status> roll_out(Workload workload);
  // Deletes the workload's pods on these nodes; no nodes: on all.
  asio::awaitable<Status> delete_pods(std::vector<Workload> workloads, std::string name,
                                      std::vector<std::string> nodes);

  // The collection of a kind, as the API server's discovery names it:
  // "/apis/apps/v1/namespaces/web/deployments" for {"apps/v1", "Deployment"}. An empty `space`
  // stands for "default". Errors: not_found (the API server does not have the kind).
  asio::awaitable<Result<std::string>> collection(std::string api_version, std::string kind,
                                                  std::string space);
  asio::awaitable<Status> post(std::string collection, std::string body);
  asio::awaitable<Status> patch(std::string target, std::string body);
  asio::awaitable<Status> remove(std::string target);
  // `query` is empty or a selector: "fieldSelector=...".
  asio::awaitable<Result<std::vector<sync::Pod>>> pods(std::string query);

 private:
  asio::awaitable<Result<std::string>> call(ApiRequest request);
  // Returns whether it was evicted; not if a budget forbids it.
  asio::awaitable<Result<bool>> evict(sync::Pod pod);

  ApiClient& client_;
  const Clock& clock_;
  std::string pods_query_;
};

}  // namespace holdfast::agent::lab::cluster
