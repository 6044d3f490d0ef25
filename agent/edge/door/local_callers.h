// Decides which local processes act as the node when they send no credentials.
//
// The uid of a socket is not enough: a container may run as uid 0, and a container runtime forwards
// connections of others. So the process that holds the caller's socket is looked up once per
// connection and judged by sync/identity/local_process.h. A caller whose process cannot be
// determined is refused.
//
// Threading: the loop's thread only.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/edge/options/options.h"
#include "platform/net/connection.h"
#include "platform/proc/socket_holders.h"
#include "platform/time.h"
#include "sync/identity/local_process.h"

namespace holdfast::agent {

class LocalCallers {
 public:
  // `options` and `clock` must outlive this.
  LocalCallers(const EdgeOptions& options, const Clock& clock,
               proc::SocketHolders holders = proc::SocketHolders());

  // Checks whether a peer without credentials acts as the node. Errors: denied, with the reason.
  [[nodiscard]] Status check_acts_as_node(const net::Peer& peer);

 private:
  [[nodiscard]] sync::identity::LocalProcess process_of(const net::SocketOwner& owner);
  [[nodiscard]] sync::identity::LocalProcess look_up(const net::SocketOwner& owner);
  [[nodiscard]] Result<proc::SocketHolder> holder_of(const net::SocketOwner& owner, MonoTime now);
  [[nodiscard]] std::string seen_from_here(std::string_view cgroup) const;

  using SocketKey = std::pair<std::uint64_t, std::uint64_t>;  // cookie, inode

  const EdgeOptions& options_;
  const Clock& clock_;
  proc::SocketHolders holders_;
  // Whether the sockets of all processes can be read. If so, a holder that is not found proves
  // nothing.
  const bool sees_all_;
  // The containers that this process runs in. If the node itself is a container, all its processes
  // are in cgroups below it.
  std::vector<std::string> containers_;
  std::map<SocketKey, sync::identity::LocalProcess>
      classified_;  // by connection; the oldest are dropped
  std::deque<SocketKey> order_;
};

}  // namespace holdfast::agent
