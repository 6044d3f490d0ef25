#include "agent/edge/local_callers.h"

#include <algorithm>

#include "platform/log.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t judged_max = 4096;  // connections, of all listeners

Status denied(std::string why) { return fail(Errc::denied, std::move(why)); }

}  // namespace

LocalCallers::LocalCallers(const EdgeOptions& options, const Clock& clock)
    : options_(options), clock_(clock) {}

Status LocalCallers::acts_as_node(const net::Peer& peer) {
  if (!peer.owner) {
    return denied("only a process on this machine that keeps its connection open needs no token");
  }
  const std::string uid = std::to_string(peer.owner->uid);
  const auto& allowed = options_.allowed_uids;
  if (std::find(allowed.begin(), allowed.end(), uid) == allowed.end()) {
    return denied("uid " + uid + " is not allowed to use the node's credentials");
  }
  switch (process_of(*peer.owner)) {
    case sync::LocalProcess::host:
      return {};
    case sync::LocalProcess::pod:
      if (options_.trust_host_network_pods) return {};
      return denied("a pod does not act as the node: bring a token");
    case sync::LocalProcess::relay:
      return denied("a container runtime does not act as the node: bring a token");
    case sync::LocalProcess::unknown:
      if (options_.trust_host_network_pods) return {};
      return denied("the process that holds the connection cannot be determined");
  }
  return denied("unknown");
}

sync::LocalProcess LocalCallers::process_of(const net::SocketOwner& owner) {
  const std::uint64_t key = owner.cookie != 0 ? owner.cookie : owner.inode;
  const auto known = judged_.find(key);
  if (known != judged_.end()) return known->second;
  const sync::LocalProcess process = look_up(owner);
  if (process == sync::LocalProcess::unknown) return process;  // It may be found later.
  judged_.emplace(key, process);
  order_.push_back(key);
  if (order_.size() > judged_max) {
    judged_.erase(order_.front());
    order_.pop_front();
  }
  return process;
}

sync::LocalProcess LocalCallers::look_up(const net::SocketOwner& owner) {
  const auto path = holders_.cgroup_path(owner.cgroup);
  if (path && sync::is_pod_cgroup(*path)) return sync::LocalProcess::pod;
  const auto holder = holders_.find(owner.inode, clock_.mono());
  if (!holder) {
    // Without the right to read other processes' descriptors the cgroup alone has to do. After a
    // search that was cut short it proves nothing: callers by way of a relay can spend the budget.
    const bool cut_short = holder.error().code == Errc::exhausted;
    return path && !cut_short ? sync::LocalProcess::host : sync::LocalProcess::unknown;
  }
  const sync::LocalProcess process = sync::judge_process(holder->program, holder->cgroups);
  if (process == sync::LocalProcess::host) holders_.remember(holder->pid);
  log_debug(
      "local caller",
      {{"pid", holder->pid}, {"program", holder->program}, {"process", sync::to_string(process)}});
  return process;
}

}  // namespace holdfast::agent
