// Runs a fleet of hollow nodes against an API server: performs the work that the Fleet decides on.
//
// All nodes share one client, and one watch of all bound pods. At most Plan::requests_max requests
// are sent at the same time.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/client/limited_client.h"
#include "agent/cloud/feed.h"
#include "agent/lab/hollow/fleet.h"
#include "platform/loop/tasks.h"
#include "platform/random.h"

namespace holdfast::agent::hollow {

class HollowNodes final : private ListWatchSource {
 public:
  // `client` and `clock` are borrowed and outlive it. Requests are limited to `qps` per second.
  HollowNodes(asio::any_io_executor executor, Plan plan, ApiClient& client, double qps,
              const Clock& clock);

  // Starts to register the nodes and to keep them alive, until stop().
  void start();
  // Waits until all nodes are registered. Errors: the first refusal of a node; timeout with the
  // last failure.
  asio::awaitable<Status> joined(MonoTime deadline);
  // Cancels all work. Call join() before this or what it borrows ends, unless the loop has ended.
  void cancel() { tasks_.cancel(); }
  asio::awaitable<void> join() { return tasks_.join(); }
  // Deletes the nodes and their leases. To be called after join(). Errors: the first failure.
  asio::awaitable<Status> remove_all();

  // The ids of these nodes. Errors: not_found, naming the first one that is not in the fleet.
  [[nodiscard]] Result<std::vector<NodeId>> find(const std::vector<std::string>& names) const;
  // Return how many nodes changed.
  std::size_t silence(const std::vector<NodeId>& nodes);
  std::size_t resume(const std::vector<NodeId>& nodes);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const NodeRecord& node(NodeId node) const { return fleet_.node(node); }
  // How many nodes are registered, not counting deleted ones.
  [[nodiscard]] std::size_t registered() const;
  // The number of pods by node.
  [[nodiscard]] std::unordered_map<NodeId, std::size_t> pod_counts();

 private:
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;
  asio::awaitable<Result<std::string>> call(ApiRequest request);
  void take_pod(const sync::Pod& pod);

  asio::awaitable<void> watch_pods();
  asio::awaitable<void> dispatch();
  asio::awaitable<void> perform(Work work);
  asio::awaitable<void> register_node(NodeId node);
  asio::awaitable<Status> try_register(NodeId node);
  asio::awaitable<Result<std::string>> make_lease(std::string name, std::string uid);
  asio::awaitable<void> renew(NodeId node);
  asio::awaitable<Result<std::string>> try_renew(NodeId node);
  asio::awaitable<void> post_status(NodeId node);
  asio::awaitable<Status> try_post(NodeId node);
  asio::awaitable<void> perform_pod(PodWork work);
  asio::awaitable<Status> try_remove(NodeId node);
  asio::awaitable<void> remove_share(NodeId first, NodeId step, Status& done);
  void note(const char* what, const std::string& name, const Error& error);

  Plan plan_;
  const Clock& clock_;
  AlwaysPermitted permit_;
  LimitedClient client_;
  Random random_;
  std::unordered_map<std::string_view, NodeId> ids_;  // by name
  Fleet fleet_;
  Feed<sync::Pod> feed_;
  Error last_failure_{Errc::timeout, "no answer"};
  std::size_t performing_ = 0;
  loop::Event changed_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::hollow
