// The current state of the cluster: the latest observation of every node, pod and link.
// Pure.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/lab/demo/history.h"

namespace holdfast::agent::demo {

class ClusterSnapshot {
 public:
  // Each records an observation and returns whether it differs from the previous one.
  bool take(const LinkSeen& seen);
  bool take(const NodeSeen& seen);
  bool take(const PodSeen& seen);
  bool take(const ReplicasSeen& seen);

  [[nodiscard]] const std::map<std::string, NodeSeen>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, PodSeen>& pods() const { return pods_; }
  [[nodiscard]] const std::map<std::string, LinkSeen>& links() const { return links_; }
  [[nodiscard]] const ReplicasSeen& replicas() const { return replicas_; }

  [[nodiscard]] std::string link(const std::string& node) const;
  [[nodiscard]] std::string ready(const std::string& node) const;
  // Whether the node has a taint that ends with `ending`, for example ":NoExecute"; "" for any
  // taint.
  [[nodiscard]] bool tainted(const std::string& node, const std::string& ending) const;

  // The pods that are bound to the node and not gone; with `owner`, those whose controller has that
  // kind.
  [[nodiscard]] std::vector<PodSeen> on(const std::string& node,
                                        const std::string& owner = {}) const;
  // How many of them are ready and not being deleted.
  [[nodiscard]] std::int64_t running(const std::string& node, const std::string& owner = {}) const;
  // Whether there are `nodes` nodes, all of them Ready, untainted and connected with an empty
  // outbox.
  [[nodiscard]] bool is_recovered(std::size_t nodes) const;

 private:
  std::map<std::string, NodeSeen> nodes_;
  std::map<std::string, PodSeen> pods_;  // by uid, including pods that are gone
  std::map<std::string, LinkSeen> links_;
  ReplicasSeen replicas_;
};

}  // namespace holdfast::agent::demo
