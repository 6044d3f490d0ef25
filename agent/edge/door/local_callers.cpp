#include "agent/edge/door/local_callers.h"

#include <algorithm>

#include "platform/log.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t classified_max = 4096;  // connections of all listeners

Status denied(std::string why) { return fail(Errc::denied, std::move(why)); }

}  // namespace

LocalCallers::LocalCallers(const EdgeOptions& options, const Clock& clock,
                           proc::SocketHolders holders)
    : options_(options),
      clock_(clock),
      holders_(std::move(holders)),
      sees_all_(holders_.sees_all()) {
  for (const std::string& path : holders_.own_cgroups()) {
    const std::string_view container = sync::identity::container_of(path);
    if (!container.empty()) containers_.emplace_back(container);
  }
  if (sees_all_) return;
  log_warn(
      "the descriptors of other processes cannot be read: connections that a container runtime "
      "forwards here cannot be told from the node's own",
      {{"missing_capability", "CAP_SYS_PTRACE"}});
}

Status LocalCallers::check_acts_as_node(const net::Peer& peer) {
  if (!peer.owner) {
    return denied("only a process on this machine whose connection is still open needs no token");
  }
  const std::string uid = std::to_string(peer.owner->uid);
  const auto& allowed = options_.allowed_uids;
  if (std::find(allowed.begin(), allowed.end(), uid) == allowed.end()) {
    return denied("uid " + uid + " is not allowed to use the node's credentials");
  }
  switch (process_of(*peer.owner)) {
    case sync::identity::LocalProcess::host:
      return {};
    case sync::identity::LocalProcess::pod:
      if (options_.trust_host_network_pods) return {};
      return denied("a process in a container cannot act as the node: use a token");
    case sync::identity::LocalProcess::relay:
      return denied("a container runtime cannot act as the node: use a token");
    case sync::identity::LocalProcess::unknown:
      if (options_.trust_host_network_pods) return {};
      return denied("the process that holds the connection cannot be determined");
  }
  return denied("unknown");
}

sync::identity::LocalProcess LocalCallers::process_of(const net::SocketOwner& owner) {
  const SocketKey key{owner.cookie, owner.inode};
  const auto known = classified_.find(key);
  if (known != classified_.end()) return known->second;
  const sync::identity::LocalProcess process = look_up(owner);
  // It may be found at the next request.
  if (process == sync::identity::LocalProcess::unknown) return process;
  classified_.emplace(key, process);
  order_.push_back(key);
  if (order_.size() > classified_max) {
    classified_.erase(order_.front());
    order_.pop_front();
  }
  return process;
}

std::string LocalCallers::seen_from_here(std::string_view cgroup) const {
  for (const std::string& container : containers_)
    cgroup = sync::identity::seen_from(container, cgroup);
  return std::string(cgroup);
}

Result<proc::SocketHolder> LocalCallers::holder_of(const net::SocketOwner& owner, MonoTime now) {
  if (owner.holder != 0) return holders_.describe(static_cast<pid_t>(owner.holder));
  return holders_.find(owner.inode, owner.cgroup, now);
}

sync::identity::LocalProcess LocalCallers::look_up(const net::SocketOwner& owner) {
  const MonoTime now = clock_.mono();
  const auto path = holders_.cgroup_path(owner.cgroup, now);
  if (path && sync::identity::is_container_cgroup(seen_from_here(*path)))
    return sync::identity::LocalProcess::pod;
  auto holder = holder_of(owner, now);
  if (!holder) {
    // Without the right to read other processes' descriptors, the cgroup alone decides. If the
    // search was cut short or could see every process, a missing holder proves nothing.
    const bool hidden = holder.error().code == Errc::not_found && !sees_all_;
    return path && hidden ? sync::identity::LocalProcess::host
                          : sync::identity::LocalProcess::unknown;
  }
  for (std::string& cgroup : holder->cgroups) cgroup = seen_from_here(cgroup);
  const auto process =
      sync::identity::classify_process(holder->program, holder->called, holder->cgroups);
  if (process == sync::identity::LocalProcess::host) holders_.remember(holder->pid);
  if (process == sync::identity::LocalProcess::relay) holders_.remember_relay(holder->pid);
  log_debug("local caller", {{"pid", holder->pid},
                             {"program", holder->program},
                             {"process", sync::identity::to_string(process)}});
  return process;
}

}  // namespace holdfast::agent
