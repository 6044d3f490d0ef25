// Decides what a fleet of hollow nodes does next: register, renew leases, post statuses, and the
// steps of pods. Pure: the owner asks for work, performs it and reports the result.
//
// Requests are spread evenly over the intervals. Leases come first, because a late lease makes a
// node look dead. A node that is silent does nothing until it is resumed. As with a kubelet, a node
// whose object was deleted is not registered again.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/lab/hollow/plan.h"
#include "agent/lab/hollow/pods.h"
#include "agent/lab/hollow/rotation.h"

namespace holdfast::agent::hollow {

enum class NodeState : std::uint8_t {
  registering,
  registered,
  deleted,  // somebody deleted it, or replaced it by a node that is not hollow
  refused,  // there is a node of this name that is not hollow
};

struct NodeRecord {
  std::string uid;            // of the Node
  std::string lease_version;  // resourceVersion of the Lease; "": unknown
  std::optional<MonoTime> silent_since = {};
  NodeState state = NodeState::registering;
  bool renewing = false;
  bool posting = false;
  bool must_post = false;  // the status is posted as soon as a renewal succeeds
};

struct NodeWork {
  enum class Kind : std::uint8_t { register_node, renew, post_status };

  Kind kind;
  NodeId node;
};

using Work = std::variant<NodeWork, PodWork>;

class Fleet {
 public:
  // `plan` outlives it.
  Fleet(const Plan& plan, MonoTime now);

  // The next work that is due; each one is followed by one report of its result.
  [[nodiscard]] std::optional<Work> next(MonoTime now);
  // When to ask again, unless something is reported before.
  [[nodiscard]] MonoTime next_due() const;

  void registered(NodeId node, std::string uid, std::string lease_version, bool existed);
  void register_failed(NodeId node, MonoTime now);  // is tried again after a pause
  void refused(NodeId node);
  void renewed(NodeId node, std::string lease_version);
  // The lease's version is unknown now. The status is posted when the server can be reached again,
  // because the node may have been marked Unknown meanwhile.
  void renew_failed(NodeId node);
  void posted(NodeId node, const std::string& uid);
  void post_failed(NodeId node);
  void deleted(NodeId node);

  // Both return whether the node's silence has changed.
  bool silence(NodeId node, MonoTime now);
  bool resume(NodeId node, MonoTime now);

  [[nodiscard]] const NodeRecord& node(NodeId node) const { return nodes_[node]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // How many nodes are registering or wait for it.
  [[nodiscard]] std::size_t unregistered() const { return unregistered_; }
  [[nodiscard]] Pods& pods() { return pods_; }

 private:
  using Kind = NodeWork::Kind;
  [[nodiscard]] std::optional<Work> next_duty(Rotation& rotation, Kind kind, MonoTime now);
  [[nodiscard]] std::optional<Work> next_urgent();
  [[nodiscard]] std::optional<Work> next_registration(MonoTime now);
  // Marks the work as being performed; false if the node cannot do it now.
  [[nodiscard]] bool begin(const NodeWork& work);
  void settle(NodeId node, NodeState state);

  std::vector<NodeRecord> nodes_;
  Rotation leases_;
  Rotation statuses_;
  std::deque<NodeWork> urgent_;
  NodeId next_registration_ = 0;
  std::deque<std::pair<MonoTime, NodeId>> retries_;  // failed registrations
  std::size_t unregistered_;
  Pods pods_;
};

}  // namespace holdfast::agent::hollow
