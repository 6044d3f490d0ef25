// The modelled API server: nodes, pods and leases with the rules of an API server that matter for
// partitions: versions, preconditions, graceful deletion, watches and their history.
//
// A write takes effect when its function is called; the caller models the network. All functions
// are deterministic. Objects are shared and immutable.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/lab/scenario/scenario.h"
#include "agent/lab/sim/engine.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/workload.h"

namespace holdfast::agent::lab::sim {

using NodePtr = std::shared_ptr<const sync::Node>;
using PodPtr = std::shared_ptr<const sync::Pod>;
using LeasePtr = std::shared_ptr<const sync::Lease>;

// Who sent a write.
enum class Actor : std::uint8_t { kubelet, edge, lifecycle, scheduler, workloads, person };
[[nodiscard]] std::string_view to_string(Actor actor);

enum class ChangeType : std::uint8_t { added, modified, deleted };

// One change of one object, as a watch delivers it. Exactly one pointer is not null. For a deletion
// it is the last state with the version of the deletion.
struct Change {
  ChangeType type = ChangeType::added;
  std::uint64_t version = 0;
  Actor by = Actor::person;
  NodePtr node = {};
  PodPtr pod = {};
  LeasePtr lease = {};
  PodPtr pod_before = {};  // null if the pod was added
};

// HTTP statuses.
inline constexpr int ok = 200;
inline constexpr int created = 201;
inline constexpr int not_found = 404;
inline constexpr int conflict = 409;
inline constexpr int gone = 410;
inline constexpr int too_many = 429;
inline constexpr int unavailable = 503;

[[nodiscard]] std::string key_of(const sync::Pod& pod);

class Server {
 public:
  using Listener = std::function<void(const Change&)>;

  explicit Server(Engine& engine) : engine_(engine) {}

  [[nodiscard]] std::uint64_t version() const { return version_; }
  // Null if there is no such object.
  [[nodiscard]] NodePtr node(const std::string& name) const;
  [[nodiscard]] PodPtr pod(const std::string& key) const;
  [[nodiscard]] LeasePtr lease(const std::string& node) const;
  [[nodiscard]] const std::map<std::string, NodePtr>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, PodPtr>& pods() const { return pods_; }
  [[nodiscard]] const std::map<std::string, LeasePtr>& leases() const { return leases_; }
  [[nodiscard]] std::vector<PodPtr> pods_of(const std::string& node) const;

  // Writes return an HTTP status. An empty `uid` or `version` is no precondition.
  int create_node(sync::Node node, Actor by);
  int create_pod(sync::Pod pod, Actor by);
  // `edit` changes a copy; returning false leaves the object as it is (200).
  int edit_node(const std::string& name, std::string_view uid, std::string_view version, Actor by,
                const std::function<bool(sync::Node&)>& edit);
  int edit_pod(const std::string& key, std::string_view uid, Actor by,
               const std::function<bool(sync::Pod&)>& edit);
  // A bound pod that runs is marked and removed by its kubelet, with `grace` 0. Without `grace`,
  // the pod's own grace period counts.
  int delete_pod(const std::string& key, std::string_view uid, Actor by,
                 std::optional<std::int64_t> grace = {});
  int delete_node(const std::string& name, std::string_view uid, Actor by);
  // Creates the lease if it is missing. `renewed` must be later than the last renewal: otherwise an
  // invariant is violated.
  int renew_lease(const std::string& node, WallTime renewed, Actor by);

  // Is called with every change, at once.
  void on_change(Listener listener) { listeners_.push_back(std::move(listener)); }

  // A watch of the pods of one node and of the node itself.
  struct Watch {
    std::string node;
    Listener deliver;
    bool silent = false;  // it stays open but delivers nothing
  };
  using WatchPtr = std::shared_ptr<Watch>;
  // Null if `version` is too old (410).
  [[nodiscard]] WatchPtr watch_node(const std::string& node, std::uint64_t version,
                                    Listener deliver);
  // Delivers the changes after `version` that have happened already.
  void deliver_since(const Watch& watch, std::uint64_t version) const;
  void close(const WatchPtr& watch);

  // Faults, which may overlap.
  void begin(ApiFault fault);
  void end(ApiFault fault);
  [[nodiscard]] bool has(ApiFault fault) const { return faults_.contains(fault); }
  // Down: connections are refused. Once it is up again, it does not know the changes from before,
  // as a kube-apiserver does not, whose watch cache is empty then: watches from older versions are
  // refused with 410.
  void stop() { ++stopped_; }
  void start();
  [[nodiscard]] bool is_down() const { return stopped_ > 0; }
  // Paused: connections are accepted, but nothing is answered.
  void pause() { ++paused_; }
  void resume() { --paused_; }
  [[nodiscard]] bool is_paused() const { return paused_ > 0; }
  [[nodiscard]] bool is_silent() const { return is_down() || is_paused(); }

  // Changes kept for watches that begin at an older version.
  static constexpr std::size_t history_max = 5000;

 private:
  void publish(Change change);
  void remember(Change change);
  std::uint64_t stamp(sync::ObjectMeta& metadata);
  void remove_pod(const PodPtr& pod, Actor by);

  Engine& engine_;
  std::uint64_t version_ = 1000;
  std::uint64_t uids_ = 0;
  std::map<std::string, NodePtr> nodes_;
  std::map<std::string, PodPtr> pods_;  // by namespace/name
  std::map<std::string, LeasePtr> leases_;
  std::unordered_map<std::string, std::set<std::string>> keys_of_node_;
  std::vector<Listener> listeners_;
  std::unordered_map<std::string, std::list<WatchPtr>> watches_;  // by node
  using ChangePtr = std::shared_ptr<const Change>;
  std::deque<ChangePtr> history_;
  std::unordered_map<std::string, std::deque<ChangePtr>> history_of_node_;  // the same, by node
  std::uint64_t history_from_ = 1000;
  std::multiset<ApiFault> faults_;
  int stopped_ = 0;
  int paused_ = 0;
};

}  // namespace holdfast::agent::lab::sim
