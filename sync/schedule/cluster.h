// The nodes of the cluster with their pods, as the scheduler sees them; updated in place.
//
// An attempt borrows from the Cluster and must end before the next change. Setting an object is
// O(log n), removing a pod O(pods on its node). After nodes were added, removed or moved to another
// zone, the next nodes() or find() is O(nodes). Not thread-safe.

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
#include "sync/schedule/volumes/storage.h"

namespace holdfast::sync::schedule {

struct NodeView {
  std::shared_ptr<const Node> node;  // null: only pods name it; then it is not in nodes()
  Resources allocatable;
  std::int64_t allowed_pods = 0;
  Resources requested;
  std::int64_t scored_cpu = 0;
  std::int64_t scored_memory = 0;
  std::vector<PodRef> pods;                        // unordered
  std::vector<const PodView*> with_ports;          // pods with host ports
  std::vector<const PodView*> with_anti_affinity;  // pods with required anti-affinity
  std::vector<const PodView*> with_volumes;        // pods with PodView::volumes
  std::size_t position = 0;                        // in Cluster::nodes()
  std::string problem;  // why amounts of the node cannot be read; they are 0

  [[nodiscard]] const std::string& name() const { return node->metadata.name; }
  [[nodiscard]] const StringMap& labels() const { return node->metadata.labels; }
};

class Cluster {
 public:
  // Adds the node, or replaces the one with its name.
  void set_node(std::shared_ptr<const Node> node);
  void set_node(Node node) { set_node(std::make_shared<const Node>(std::move(node))); }
  void remove_node(std::string_view name);

  // Adds a pod that has a node or is assumed to have it, or replaces the one with its uid. A pod
  // that has ended is removed.
  void set_pod(const PodRef& pod);
  void remove_pod(const std::string& uid);

  void set_namespace(std::string_view name, StringMap labels);
  void remove_namespace(std::string_view name);

  // All nodes in the order of a scan: one node of each zone in turn, by name within a zone.
  [[nodiscard]] const std::vector<const NodeView*>& nodes() const;
  // nullptr if there is no such node.
  [[nodiscard]] const NodeView* find(std::string_view name) const;
  // nullptr if no pod with this uid has a node.
  [[nodiscard]] PodRef find_pod(const std::string& uid) const;
  [[nodiscard]] const Namespaces& namespaces() const { return namespaces_; }
  // The number of pods with required anti-affinity.
  [[nodiscard]] std::size_t anti_affinity_pods() const { return anti_affinity_pods_; }
  [[nodiscard]] std::size_t pods() const { return pods_.size(); }
  // The number of pods with a node that use the claim.
  [[nodiscard]] int users_of(const ClaimName& claim) const;
  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] const Storage& storage() const { return storage_; }

  [[nodiscard]] Symbols& symbols() { return symbols_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }

 private:
  NodeView& slot(const std::string& name);
  void drop_if_empty(const std::string& name);
  void count_claims(const PodView& pod, int by);

  Symbols symbols_;
  std::map<std::string, std::unique_ptr<NodeView>, std::less<>> nodes_;
  std::unordered_map<std::string, PodRef> pods_;  // by uid
  Namespaces namespaces_;
  std::size_t anti_affinity_pods_ = 0;
  Storage storage_;
  std::map<ClaimName, int> claim_users_;  // without zeros
  mutable std::vector<const NodeView*> order_;
  mutable bool order_stale_ = false;
};

}  // namespace holdfast::sync::schedule
