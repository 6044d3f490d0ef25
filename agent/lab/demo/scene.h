// The present as the demo sees it: the last word on every node, pod, link and process.
//
// Pure: it is fed what is seen, and asked.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/lab/demo/history.h"

namespace holdfast::agent::demo {

class Scene {
 public:
  // Each takes what was seen; true when it differs from what was known.
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
  // Whether a taint of the node ends so: ":NoExecute"; "" for any taint.
  [[nodiscard]] bool tainted(const std::string& node, const std::string& ending) const;

  // The pods that are bound to the node and not gone; `owner` empty for all.
  [[nodiscard]] std::vector<PodSeen> on(const std::string& node,
                                        const std::string& owner = {}) const;
  // How many of them are ready and stay.
  [[nodiscard]] std::int64_t running(const std::string& node, const std::string& owner = {}) const;
  // All nodes ready, untainted and connected, every outbox empty.
  [[nodiscard]] bool whole(std::size_t nodes) const;

 private:
  std::map<std::string, NodeSeen> nodes_;
  std::map<std::string, PodSeen> pods_;  // by uid; those that are gone stay
  std::map<std::string, LinkSeen> links_;
  ReplicasSeen replicas_;
};

}  // namespace holdfast::agent::demo
