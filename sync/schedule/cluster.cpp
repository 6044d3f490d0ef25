#include "sync/schedule/cluster.h"

#include <algorithm>
#include <set>

#include "platform/check.h"
#include "sync/lifecycle/zone.h"

namespace holdfast::sync::schedule {
namespace {

template <class T>
void erase_one(std::vector<T>& items, const T& item) {
  const auto at = std::find(items.begin(), items.end(), item);
  CHECK(at != items.end());
  *at = std::move(items.back());
  items.pop_back();
}

void read_allocatable(NodeView& view, Symbols& symbols) {
  const StringMap& list = view.node->status.allocatable;
  view.problem.clear();
  auto amounts = read_resources(list, symbols);
  auto pods = read_amount(list, "pods");
  if (!amounts) view.problem = "status.allocatable: " + amounts.error().what;
  if (!pods) view.problem = "status.allocatable: " + pods.error().what;
  view.allocatable = amounts ? std::move(*amounts) : Resources();
  view.allowed_pods = pods.value_or(0);
}

void put(NodeView& view, const PodRef& pod) {
  view.pods.push_back(pod);
  view.requested.add(pod->requests.real);
  view.scored_cpu += pod->requests.scored_cpu;
  view.scored_memory += pod->requests.scored_memory;
  if (!pod->host_ports.empty()) view.with_ports.push_back(pod.get());
  if (!pod->anti_affinity().empty()) view.with_anti_affinity.push_back(pod.get());
  if (pod->volumes) view.with_volumes.push_back(pod.get());
}

void take(NodeView& view, const PodRef& pod) {
  view.requested.subtract(pod->requests.real);
  view.scored_cpu -= pod->requests.scored_cpu;
  view.scored_memory -= pod->requests.scored_memory;
  const PodView* plain = pod.get();
  if (!pod->host_ports.empty()) erase_one(view.with_ports, plain);
  if (!pod->anti_affinity().empty()) erase_one(view.with_anti_affinity, plain);
  if (pod->volumes) erase_one(view.with_volumes, plain);
  erase_one(view.pods, pod);
}

bool has_ended(const Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

}  // namespace

NodeView& Cluster::slot(const std::string& name) {
  std::unique_ptr<NodeView>& view = nodes_[name];
  if (!view) view = std::make_unique<NodeView>();
  return *view;
}

void Cluster::drop_if_empty(const std::string& name) {
  const auto at = nodes_.find(name);
  if (at != nodes_.end() && at->second->node == nullptr && at->second->pods.empty()) {
    nodes_.erase(at);
  }
}

void Cluster::set_node(std::shared_ptr<const Node> node) {
  NodeView& view = slot(node->metadata.name);
  const bool moved = view.node == nullptr || lifecycle::zone_key(view.node->metadata.labels) !=
                                                 lifecycle::zone_key(node->metadata.labels);
  view.node = std::move(node);
  read_allocatable(view, symbols_);
  order_stale_ = order_stale_ || moved;
}

void Cluster::remove_node(std::string_view name) {
  const auto at = nodes_.find(name);
  if (at == nodes_.end() || at->second->node == nullptr) return;
  at->second->node = nullptr;
  order_stale_ = true;
  drop_if_empty(std::string(name));
}

void Cluster::set_pod(const PodRef& pod) {
  CHECK(!pod->node().empty());
  remove_pod(pod->uid());
  if (has_ended(*pod->pod)) return;
  put(slot(pod->node()), pod);
  if (!pod->anti_affinity().empty()) ++anti_affinity_pods_;
  count_claims(*pod, 1);
  pods_.emplace(pod->uid(), pod);
}

void Cluster::remove_pod(const std::string& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  const PodRef pod = at->second;
  pods_.erase(at);
  take(slot(pod->node()), pod);
  if (!pod->anti_affinity().empty()) --anti_affinity_pods_;
  count_claims(*pod, -1);
  drop_if_empty(pod->node());
}

void Cluster::count_claims(const PodView& pod, int by) {
  std::set<ClaimName> own;  // two volumes may use one claim
  for (const ClaimUse& use : pod.claims()) own.emplace(pod.namespace_name(), use.claim);
  for (const ClaimName& name : own) {
    const auto at = claim_users_.try_emplace(name, 0).first;
    at->second += by;
    if (at->second == 0) claim_users_.erase(at);
  }
}

int Cluster::users_of(const ClaimName& claim) const {
  const auto at = claim_users_.find(claim);
  return at == claim_users_.end() ? 0 : at->second;
}

void Cluster::set_namespace(std::string_view name, StringMap labels) {
  namespaces_.insert_or_assign(std::string(name), std::move(labels));
}

void Cluster::remove_namespace(std::string_view name) {
  const auto at = namespaces_.find(name);
  if (at != namespaces_.end()) namespaces_.erase(at);
}

const std::vector<const NodeView*>& Cluster::nodes() const {
  if (!order_stale_) return order_;
  std::map<std::string, std::vector<NodeView*>> zones;
  for (const auto& [name, view] : nodes_) {
    if (view->node != nullptr) zones[lifecycle::zone_key(view->labels())].push_back(view.get());
  }
  order_.clear();
  for (std::size_t turn = 0, left = zones.size(); left > 0; ++turn) {
    left = 0;
    for (const auto& [zone, views] : zones) {
      if (turn >= views.size()) continue;
      ++left;
      views[turn]->position = order_.size();
      order_.push_back(views[turn]);
    }
  }
  order_stale_ = false;
  return order_;
}

const NodeView* Cluster::find(std::string_view name) const {
  (void)nodes();  // updates NodeView::position
  const auto at = nodes_.find(name);
  return at == nodes_.end() || at->second->node == nullptr ? nullptr : at->second.get();
}

PodRef Cluster::find_pod(const std::string& uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : at->second;
}

}  // namespace holdfast::sync::schedule
