// The nodes with their pods, as one attempt to schedule sees them: kept up to date in place.
//
// An attempt borrows from it and must end before the next change. All but nodes() after a change
// of the set of nodes costs what the change costs: O(log n) for an object, O(pods of the node) to
// take a pod away. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sync/model/node.h"
#include "sync/schedule/pod_view.h"

namespace holdfast::sync::schedule {

struct NodeView {
  std::shared_ptr<const Node> node;  // null: only heard of by its pods; then it is in no list
  Resources allocatable;
  std::int64_t allowed_pods = 0;
  Resources requested;
  std::int64_t scored_cpu = 0;
  std::int64_t scored_memory = 0;
  std::vector<PodRef> pods;                  // in no order
  std::vector<const PodView*> with_ports;    // those with host ports
  std::vector<const PodView*> with_affront;  // those with required anti-affinity
  std::size_t position = 0;                  // in Cluster::nodes()
  std::string problem;                       // what in the node cannot be read; counts as zero

  [[nodiscard]] const std::string& name() const { return node->metadata.name; }
  [[nodiscard]] const StringMap& labels() const { return node->metadata.labels; }
};

class Cluster {
 public:
  // Adds it, or takes the place of the one with its name.
  void set_node(std::shared_ptr<const Node> node);
  void set_node(Node node) { set_node(std::make_shared<const Node>(std::move(node))); }
  void remove_node(std::string_view name);

  // A pod that has a node, also one that only should have it soon. Takes the place of the one with
  // its uid. One that has ended is taken away.
  void set_pod(const PodRef& pod);
  void remove_pod(const std::string& uid);

  void set_namespace(std::string_view name, StringMap labels);
  void remove_namespace(std::string_view name);

  // In the order of a scan: zones in turn, a node each; by name within a zone.
  [[nodiscard]] const std::vector<const NodeView*>& nodes() const;
  // nullptr when there is no such node.
  [[nodiscard]] const NodeView* find(std::string_view name) const;
  // nullptr when no such pod has a node.
  [[nodiscard]] PodRef find_pod(const std::string& uid) const;
  [[nodiscard]] const Namespaces& namespaces() const { return namespaces_; }
  // How many pods have required anti-affinity.
  [[nodiscard]] std::size_t affronts() const { return affronts_; }
  [[nodiscard]] std::size_t pods() const { return pods_.size(); }

  [[nodiscard]] Symbols& symbols() { return symbols_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }

 private:
  NodeView& slot(const std::string& name);
  void drop_if_empty(const std::string& name);

  Symbols symbols_;
  std::map<std::string, std::unique_ptr<NodeView>, std::less<>> nodes_;
  std::unordered_map<std::string, PodRef> pods_;  // by uid
  Namespaces namespaces_;
  std::size_t affronts_ = 0;
  mutable std::vector<const NodeView*> order_;
  mutable bool order_stale_ = false;
};

}  // namespace holdfast::sync::schedule
