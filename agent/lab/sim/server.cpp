#include "agent/lab/sim/server.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "agent/lab/sim/promises.h"
#include "platform/check.h"
#include "sync/autonomy/admit.h"

namespace holdfast::agent::lab::sim {
namespace {

constexpr std::int64_t default_grace = 30;

// A uid in the form of a UUID, numbered.
std::string uid_of(std::uint64_t number) {
  std::array<char, 40> text{};
  (void)std::snprintf(text.data(), text.size(), "00000000-0000-4000-8000-%012llx",
                      static_cast<unsigned long long>(number));
  return text.data();
}

bool differs(std::string_view wanted, std::string_view actual) {
  return !wanted.empty() && wanted != actual;
}

// The node that a change of a Node or a pod is about; "": a pod that is not bound.
const std::string& node_of(const Change& change) {
  return change.node ? change.node->metadata.name : change.pod->spec.node_name;
}

}  // namespace

std::string_view to_string(Actor actor) {
  switch (actor) {
    case Actor::kubelet:
      return "kubelet";
    case Actor::edge:
      return "edge";
    case Actor::lifecycle:
      return "lifecycle";
    case Actor::scheduler:
      return "scheduler";
    case Actor::workloads:
      return "workloads";
    case Actor::person:
      return "person";
  }
  UNREACHABLE();
}

std::string key_of(const sync::Pod& pod) {
  return pod.metadata.namespace_name + "/" + pod.metadata.name;
}

NodePtr Server::node(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second;
}

PodPtr Server::pod(const std::string& key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : found->second;
}

LeasePtr Server::lease(const std::string& node) const {
  const auto found = leases_.find(node);
  return found == leases_.end() ? nullptr : found->second;
}

std::vector<PodPtr> Server::pods_of(const std::string& node) const {
  std::vector<PodPtr> found;
  const auto keys = keys_of_node_.find(node);
  if (keys == keys_of_node_.end()) return found;
  for (const std::string& key : keys->second) found.push_back(pods_.at(key));
  return found;
}

// ------------------------------------------------------------------------------------- writes

std::uint64_t Server::stamp(sync::ObjectMeta& metadata) {
  metadata.resource_version = std::to_string(++version_);
  return version_;
}

int Server::create_node(sync::Node node, Actor by) {
  const std::string name = node.metadata.name;
  if (nodes_.contains(name)) return conflict;
  node.metadata.uid = uid_of(++uids_);
  node.metadata.creation_timestamp = engine_.wall();
  const std::uint64_t version = stamp(node.metadata);
  const auto made = std::make_shared<const sync::Node>(std::move(node));
  nodes_[name] = made;
  publish({.type = ChangeType::added, .version = version, .by = by, .node = made});
  return created;
}

int Server::create_pod(sync::Pod pod, Actor by) {
  const std::string key = key_of(pod);
  if (pods_.contains(key)) return conflict;
  pod.metadata.uid = uid_of(++uids_);
  pod.metadata.creation_timestamp = engine_.wall();
  if (pod.status.phase.empty()) pod.status.phase = "Pending";
  const std::uint64_t version = stamp(pod.metadata);
  const auto made = std::make_shared<const sync::Pod>(std::move(pod));
  pods_[key] = made;
  if (!made->spec.node_name.empty()) keys_of_node_[made->spec.node_name].insert(key);
  publish({.type = ChangeType::added, .version = version, .by = by, .pod = made});
  return created;
}

int Server::edit_node(const std::string& name, std::string_view uid, std::string_view version,
                      Actor by, const std::function<bool(sync::Node&)>& edit) {
  const NodePtr before = node(name);
  if (!before) return not_found;
  if (differs(uid, before->metadata.uid)) return conflict;
  if (differs(version, before->metadata.resource_version)) return conflict;
  sync::Node after = *before;
  if (!edit(after) || after == *before) return ok;
  const std::uint64_t stamped = stamp(after.metadata);
  const auto made = std::make_shared<const sync::Node>(std::move(after));
  nodes_[name] = made;
  publish({.type = ChangeType::modified, .version = stamped, .by = by, .node = made});
  return ok;
}

int Server::edit_pod(const std::string& key, std::string_view uid, Actor by,
                     const std::function<bool(sync::Pod&)>& edit) {
  const PodPtr before = pod(key);
  if (!before) return not_found;
  if (differs(uid, before->metadata.uid)) return conflict;
  sync::Pod after = *before;
  if (!edit(after) || after == *before) return ok;
  const std::uint64_t version = stamp(after.metadata);
  const auto made = std::make_shared<const sync::Pod>(std::move(after));
  pods_[key] = made;
  if (before->spec.node_name.empty() && !made->spec.node_name.empty()) {
    keys_of_node_[made->spec.node_name].insert(key);
  }
  publish({.type = ChangeType::modified,
           .version = version,
           .by = by,
           .pod = made,
           .pod_before = before});
  return ok;
}

int Server::delete_pod(const std::string& key, std::string_view uid, Actor by,
                       std::optional<std::int64_t> grace) {
  const PodPtr found = pod(key);
  if (!found) return not_found;
  if (differs(uid, found->metadata.uid)) return conflict;
  std::int64_t seconds =
      grace.value_or(found->spec.termination_grace_period_seconds.value_or(default_grace));
  if (found->spec.node_name.empty() || has_ended(*found)) seconds = 0;
  if (seconds == 0) {
    remove_pod(found, by);
    return ok;
  }
  return edit_pod(key, uid, by, [this, seconds](sync::Pod& pod) {
    const auto known = pod.metadata.deletion_grace_period_seconds;
    if (known && *known <= seconds) return false;
    pod.metadata.deletion_timestamp =
        std::chrono::floor<std::chrono::seconds>(engine_.wall()) + std::chrono::seconds(seconds);
    pod.metadata.deletion_grace_period_seconds = seconds;
    return true;
  });
}

void Server::remove_pod(const PodPtr& pod, Actor by) {
  const std::string key = key_of(*pod);
  pods_.erase(key);
  if (const auto keys = keys_of_node_.find(pod->spec.node_name); keys != keys_of_node_.end()) {
    keys->second.erase(key);
  }
  sync::Pod last = *pod;
  const std::uint64_t version = stamp(last.metadata);
  publish({.type = ChangeType::deleted,
           .version = version,
           .by = by,
           .pod = std::make_shared<const sync::Pod>(std::move(last)),
           .pod_before = pod});
}

int Server::delete_node(const std::string& name, std::string_view uid, Actor by) {
  const NodePtr found = node(name);
  if (!found) return not_found;
  if (differs(uid, found->metadata.uid)) return conflict;
  nodes_.erase(name);
  sync::Node last = *found;
  const std::uint64_t version = stamp(last.metadata);
  publish({.type = ChangeType::deleted,
           .version = version,
           .by = by,
           .node = std::make_shared<const sync::Node>(std::move(last))});
  return ok;
}

int Server::renew_lease(const std::string& node, WallTime renewed, Actor by) {
  LeasePtr& slot = leases_[node];
  const bool is_new = slot == nullptr;
  sync::Lease lease;
  if (!is_new) lease = *slot;
  if (is_new) {
    lease.metadata.name = node;
    lease.metadata.namespace_name = sync::autonomy::lease_namespace;
    lease.metadata.uid = uid_of(++uids_);
    lease.spec.holder_identity = node;
  }
  if (!is_new && by == Actor::edge && renewed <= *lease.spec.renew_time) {
    engine_.violate("the renewals of a lease grow", node + " went from " +
                                                        format_rfc3339(*lease.spec.renew_time) +
                                                        " to " + format_rfc3339(renewed));
  }
  lease.spec.renew_time = renewed;
  const std::uint64_t version = stamp(lease.metadata);
  slot = std::make_shared<const sync::Lease>(std::move(lease));
  publish({.type = is_new ? ChangeType::added : ChangeType::modified,
           .version = version,
           .by = by,
           .lease = slot});
  return is_new ? created : ok;
}

// ------------------------------------------------------------------------------------ watches

void Server::publish(Change change) {
  for (const Listener& listener : listeners_) listener(change);
  if (change.lease) return;  // Only the controllers watch leases.
  if (const auto found = watches_.find(node_of(change)); found != watches_.end()) {
    for (const WatchPtr& watch : found->second) {
      if (!watch->silent) watch->deliver(change);
    }
  }
  remember(std::move(change));
}

void Server::remember(Change change) {
  const auto kept = std::make_shared<const Change>(std::move(change));
  history_.push_back(kept);
  history_of_node_[node_of(*kept)].push_back(kept);
  if (history_.size() <= history_max) return;
  const ChangePtr oldest = history_.front();
  history_from_ = oldest->version;
  history_.pop_front();
  const auto of_node = history_of_node_.find(node_of(*oldest));
  of_node->second.pop_front();
  if (of_node->second.empty()) history_of_node_.erase(of_node);
}

void Server::start() {
  if (--stopped_ > 0) return;
  history_.clear();
  history_of_node_.clear();
  history_from_ = version_;
}

Server::WatchPtr Server::watch_node(const std::string& node, std::uint64_t version,
                                    Listener deliver) {
  if (version < history_from_ || has(ApiFault::gone)) return nullptr;
  auto watch = std::make_shared<Watch>(Watch{node, std::move(deliver)});
  watch->silent = has(ApiFault::silent_watch);
  watches_[node].push_back(watch);
  return watch;
}

void Server::deliver_since(const Watch& watch, std::uint64_t version) const {
  if (watch.silent) return;
  const auto of_node = history_of_node_.find(watch.node);
  if (of_node == history_of_node_.end()) return;
  for (const ChangePtr& change : of_node->second) {
    if (change->version > version) watch.deliver(*change);
  }
}

void Server::close(const WatchPtr& watch) {
  const auto found = watches_.find(watch->node);
  if (found != watches_.end()) found->second.remove(watch);
}

void Server::begin(ApiFault fault) {
  faults_.insert(fault);
  if (fault != ApiFault::silent_watch) return;
  for (auto& [node, watches] : watches_) {
    for (const WatchPtr& watch : watches) watch->silent = true;
  }
}

void Server::end(ApiFault fault) {
  if (const auto found = faults_.find(fault); found != faults_.end()) faults_.erase(found);
}

}  // namespace holdfast::agent::lab::sim
