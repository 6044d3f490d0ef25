#include "agent/lab/hollow/fleet.h"

#include <algorithm>

namespace holdfast::agent::hollow {
namespace {

constexpr Duration registration_pause = std::chrono::seconds(2);

}  // namespace

Fleet::Fleet(const Plan& plan, MonoTime now)
    : nodes_(plan.nodes.size()),
      leases_(static_cast<NodeId>(plan.nodes.size()), now, plan.lease_interval, plan.spread),
      // Registration has just posted the statuses.
      statuses_(static_cast<NodeId>(plan.nodes.size()), now + plan.status_interval,
                plan.status_interval, plan.spread),
      unregistered_(plan.nodes.size()),
      pods_(plan) {}

std::optional<Work> Fleet::next(MonoTime now) {
  if (auto work = next_duty(leases_, Kind::renew, now)) return work;
  if (auto work = next_urgent()) return work;
  const auto is_silent = [this](NodeId node) {
    return nodes_[node].silent_since || nodes_[node].state != NodeState::registered;
  };
  if (auto work = pods_.next(now, is_silent)) return *std::move(work);
  if (auto work = next_duty(statuses_, Kind::post_status, now)) return work;
  return next_registration(now);
}

MonoTime Fleet::next_due() const {
  if (!urgent_.empty() || next_registration_ < nodes_.size()) return MonoTime::min();
  MonoTime due = std::min({leases_.next(), statuses_.next(), pods_.next_due()});
  if (!retries_.empty()) due = std::min(due, retries_.front().first);
  return due;
}

std::optional<Work> Fleet::next_duty(Rotation& rotation, Kind kind, MonoTime now) {
  while (const auto node = rotation.take(now)) {
    const NodeWork work{kind, *node};
    if (begin(work)) return work;
  }
  return std::nullopt;
}

std::optional<Work> Fleet::next_urgent() {
  while (!urgent_.empty()) {
    const NodeWork work = urgent_.front();
    urgent_.pop_front();
    if (begin(work)) return work;
  }
  return std::nullopt;
}

std::optional<Work> Fleet::next_registration(MonoTime now) {
  if (next_registration_ < nodes_.size()) {
    return NodeWork{Kind::register_node, next_registration_++};
  }
  if (retries_.empty() || retries_.front().first > now) return std::nullopt;
  const NodeId node = retries_.front().second;
  retries_.pop_front();
  return NodeWork{Kind::register_node, node};
}

bool Fleet::begin(const NodeWork& work) {
  NodeRecord& node = nodes_[work.node];
  if (node.state != NodeState::registered || node.silent_since) return false;
  bool& busy = work.kind == Kind::renew ? node.renewing : node.posting;
  return !std::exchange(busy, true);
}

void Fleet::settle(NodeId node, NodeState state) {
  if (nodes_[node].state == NodeState::registering) --unregistered_;
  nodes_[node].state = state;
}

void Fleet::registered(NodeId id, std::string uid, std::string lease_version, bool existed) {
  settle(id, NodeState::registered);
  nodes_[id].uid = std::move(uid);
  nodes_[id].lease_version = std::move(lease_version);
  if (existed) urgent_.push_back({Kind::post_status, id});
  // Pods that were bound to it before.
  pods_.resume(id, MonoTime::min());
}

void Fleet::register_failed(NodeId node, MonoTime now) {
  retries_.emplace_back(now + registration_pause, node);
}

void Fleet::refused(NodeId node) { settle(node, NodeState::refused); }

void Fleet::renewed(NodeId id, std::string lease_version) {
  NodeRecord& node = nodes_[id];
  node.renewing = false;
  node.lease_version = std::move(lease_version);
  if (std::exchange(node.must_post, false)) urgent_.push_back({Kind::post_status, id});
}

void Fleet::renew_failed(NodeId id) {
  NodeRecord& node = nodes_[id];
  node.renewing = false;
  node.lease_version.clear();
  node.must_post = true;
}

void Fleet::posted(NodeId id, const std::string& uid) {
  NodeRecord& node = nodes_[id];
  node.posting = false;
  if (node.uid != uid) node.uid = uid;
}

void Fleet::post_failed(NodeId id) {
  nodes_[id].posting = false;
  nodes_[id].must_post = true;
}

void Fleet::deleted(NodeId id) {
  nodes_[id].renewing = nodes_[id].posting = false;
  settle(id, NodeState::deleted);
}

bool Fleet::silence(NodeId id, MonoTime now) {
  if (nodes_[id].silent_since) return false;
  nodes_[id].silent_since = now;
  return true;
}

bool Fleet::resume(NodeId id, MonoTime now) {
  if (!nodes_[id].silent_since) return false;
  nodes_[id].silent_since.reset();
  urgent_.push_back({Kind::renew, id});
  urgent_.push_back({Kind::post_status, id});
  pods_.resume(id, now);
  return true;
}

}  // namespace holdfast::agent::hollow
