// A stream of bytes to one peer, over TCP or TLS, and who that peer is.
//
// Threading: the loop's thread only. One read and one write may be under way at a time.

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

// What the kernel records about the socket of a local peer; see socket_owner.h.
struct SocketOwner {
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;   // of the socket, as /proc/PID/fd names it; never 0
  std::uint64_t cookie = 0;  // never used twice since boot; 0 if the kernel does not tell
  // The cgroup (version 2) in which the socket was made, by its id; 0 if the kernel does not tell.
  std::uint64_t cgroup = 0;

  bool operator==(const SocketOwner&) const = default;
};

// The far end. Names come from a client certificate that our CA has signed, or are empty.
struct Peer {
  std::string address;  // "127.0.0.1"
  std::uint16_t port = 0;
  std::optional<SocketOwner> owner = {};  // of its socket; only known on loopback
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  // Our own end, as the peer addressed it.
  std::string local_address = {};
  std::uint16_t local_port = 0;
};

class Connection {
 public:
  virtual ~Connection() = default;

  // Waits for at least one byte; returns how many were read, 0 once the peer has finished.
  // Errors: timeout, unavailable (reset), cancelled.
  virtual asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) = 0;

  // Sends all of `bytes`, which must stay alive until then. Errors: as read_some().
  virtual asio::awaitable<Status> write(std::string_view bytes) = 0;

  // Sends "no more from us" and leaves reading open.
  virtual void shutdown_write() = 0;

  // Every operation under way or begun later fails with `timeout` at `deadline`; MonoTime::max()
  // for never. The deadline stays until it is set again.
  virtual void expires_at(MonoTime deadline) = 0;

  // Cuts both directions at once; operations under way fail with `cancelled`.
  virtual void close() = 0;

  // Whether an idle connection has not been closed by the peer, as far as is known here.
  [[nodiscard]] virtual bool seems_open() = 0;

  [[nodiscard]] virtual const Peer& peer() const = 0;

  // Asks the kernel once more who holds the other end of an accepted loopback connection; peer()
  // has no owner any more if that is not the process that connected. Whoever acts on a request in
  // the name of its owner asks after the request was read: the caller may be gone by then.
  virtual void confirm_owner() {}

  // What TLS's handshake agreed to speak (ALPN): "h2"; empty over plain TCP or without agreement.
  [[nodiscard]] virtual std::string_view protocol() const = 0;
};

}  // namespace holdfast::net
