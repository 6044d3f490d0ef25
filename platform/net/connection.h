// A byte stream to one peer over TCP or TLS, and what is known about the peer.
//
// Threading: the loop's thread only. At most one read and one write may be in progress.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::net {

namespace asio = boost::asio;

// What the network records about the socket of a local peer. See socket_owner.h.
struct SocketOwner {
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;   // of the socket, as in /proc/PID/fd; never 0
  std::uint64_t cookie = 0;  // unique since boot; 0 if the kernel does not report it
  // The id of the cgroup (version 2) that created the socket; 0 if the kernel does not report it.
  std::uint64_t cgroup = 0;
  // The process that holds the socket. The kernel does not tell: 0 means that it must be searched
  // for (proc/socket_holders.h). A network in memory knows it.
  std::int64_t holder = 0;

  bool operator==(const SocketOwner&) const = default;
};

// The remote end. The names come from a client certificate signed by our CA; they are empty if
// there is none.
struct Peer {
  std::string address;  // "127.0.0.1"
  std::uint16_t port = 0;
  std::optional<SocketOwner> owner = {};  // of its socket; known only on loopback
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  // The local end's address, as the peer addressed it.
  std::string local_address = {};
  std::uint16_t local_port = 0;
};

class Connection {
 public:
  virtual ~Connection() = default;

  // Waits for at least one byte. Returns how many were read, or 0 when the peer has ended its
  // stream.
  // Errors: timeout, unavailable (reset), cancelled (by close()).
  virtual asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) = 0;

  // Sends all of `bytes`, which must stay alive until then. Errors: those of read_some().
  virtual asio::awaitable<Status> write(std::string_view bytes) = 0;

  // Ends our sending direction; reading stays possible.
  virtual void shutdown_write() = 0;

  // Every current and later operation fails with `timeout` at `deadline`, until a new deadline is
  // set. MonoTime::max() means no deadline.
  virtual void expires_at(MonoTime deadline) = 0;

  // Closes both directions at once; pending operations fail with `cancelled`.
  virtual void close() = 0;

  // Like close(), but the peer sees a reset (RST), and bytes that it has not yet received are
  // dropped. A connection that cannot reset its peer only closes.
  virtual void reset() { close(); }

  // For an idle connection: whether, as far as is known locally, the peer has neither closed it nor
  // sent anything. A single unread byte makes it false.
  [[nodiscard]] virtual bool seems_open() = 0;

  [[nodiscard]] virtual const Peer& peer() const = 0;

  // Looks up the owner of the peer's socket again, for an accepted loopback connection. If it is
  // not the socket that connected, peer() has no owner afterwards. Call it after a request was read
  // and before acting for its owner: the caller may have ended by then.
  virtual void confirm_owner() {}

  // The protocol that TLS negotiated (ALPN), such as "h2"; empty over plain TCP or without
  // agreement.
  [[nodiscard]] virtual std::string_view protocol() const = 0;
};

}  // namespace holdfast::net
