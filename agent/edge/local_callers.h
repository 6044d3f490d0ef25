// Decides which local processes act as the node when they bring no credentials of their own.
//
// A socket's uid is not enough: a pod's container may run as uid 0, and a container runtime relays
// what others send. So the process that holds the caller's socket is looked up once per connection
// and judged by sync/identity/local_process.h. What cannot be proved is refused.
//
// Threading: the loop's thread only.

#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "agent/edge/options.h"
#include "platform/net/connection.h"
#include "platform/proc/socket_holders.h"
#include "platform/time.h"
#include "sync/identity/local_process.h"

namespace holdfast::agent {

class LocalCallers {
 public:
  // Both outlive this.
  LocalCallers(const EdgeOptions& options, const Clock& clock);

  // Whether the peer, who brings no credentials, acts as the node. Errors: denied, saying why not.
  [[nodiscard]] Status acts_as_node(const net::Peer& peer);

 private:
  [[nodiscard]] sync::LocalProcess process_of(const net::SocketOwner& owner);
  [[nodiscard]] sync::LocalProcess look_up(const net::SocketOwner& owner);

  const EdgeOptions& options_;
  const Clock& clock_;
  proc::SocketHolders holders_;
  // Of each connection, by its socket's cookie or, without one, its inode; the oldest are dropped.
  std::map<std::uint64_t, sync::LocalProcess> judged_;
  std::deque<std::uint64_t> order_;
};

}  // namespace holdfast::agent
