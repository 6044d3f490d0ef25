#include "sync/lifecycle/provider_check.h"

namespace holdfast::sync::lifecycle {
namespace {

RecordEvent provider_event(const std::string& node, const std::string& uid, bool warning,
                           std::string_view reason, std::string message) {
  return {EventSource::provider, EventKind::node,   PodRef{"", node, uid}, warning,
          std::string(reason),   std::move(message)};
}

}  // namespace

void ProviderCheck::set_node(MonoTime now, const NodeFacts& node) {
  const auto known = nodes_.find(node.name);
  if (node.ready().status == Truth::yes || node.exempt) {
    if (known != nodes_.end()) remove_node(node.name);
    return;
  }
  if (known != nodes_.end() && known->second.uid == node.uid) {
    known->second.provider_id = node.provider_id;
    return;
  }
  remove_node(node.name);
  nodes_[node.name] = {node.uid, node.provider_id, now};
  turns_.emplace(now, node.name);
}

void ProviderCheck::remove_node(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  turns_.erase({found->second.next, node});
  nodes_.erase(found);
}

Effects ProviderCheck::pass(MonoTime now) {
  Effects effects;
  while (!turns_.empty() && turns_.begin()->first <= now && effects.size() < limits_.per_pass) {
    const std::string name = turns_.begin()->second;
    turns_.erase(turns_.begin());
    Suspect& suspect = nodes_.at(name);
    suspect.next = MonoTime::max();
    effects.emplace_back(AskProvider{name, suspect.uid, suspect.provider_id});
  }
  return effects;
}

Effects ProviderCheck::settle(MonoTime now, const Effect& effect, const Outcome& outcome) {
  const auto* question = std::get_if<AskProvider>(&effect);
  const auto* deletion = std::get_if<DeleteNode>(&effect);
  if (question == nullptr && deletion == nullptr) return {};
  const std::string& name = question != nullptr ? question->node : deletion->node;
  const std::string& uid = question != nullptr ? question->uid : deletion->uid;
  if (deletion != nullptr && outcome.ok()) {
    remove_node(name);
    return {provider_event(
        name, uid, false, "DeletingNode",
        "Deleting node " + name + " because it does not exist in the cloud provider")};
  }
  const auto found = nodes_.find(name);
  // The node may be ready again or replaced by now.
  if (found == nodes_.end() || found->second.uid != uid) return {};
  if (question != nullptr && outcome.ok() && outcome.exists == false) {
    return {DeleteNode{name, uid}};
  }
  ask_again(now, name, found->second);
  if (deletion == nullptr || outcome.error == Errc::not_found) return {};
  if (outcome.node) {  // The watch lags behind: the node is Ready, or another one has its name.
    set_node(now, *outcome.node);
    return {};
  }
  return {provider_event(
      name, uid, true, "DeletingNodeFailed",
      "Failed deleting node " + name + ": " + std::string(to_string(*outcome.error)))};
}

void ProviderCheck::ask_again(MonoTime now, const std::string& node, Suspect& suspect) {
  suspect.next = now + limits_.period;
  turns_.emplace(suspect.next, node);
}

}  // namespace holdfast::sync::lifecycle
