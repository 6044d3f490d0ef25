// Divides a server's connections and memory among its callers, so that none can use them up.
//
// A caller is a user of this machine, identified by uid, or a network address; for IPv6 its /64
// network, which one machine commonly has to itself. Callers that the server trusts may use
// everything. All others share what is left after a reserve for trusted callers, and each has a
// limit of its own.
//
// Threading: the loop's thread only.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "platform/net/connection.h"

namespace holdfast::http {

struct ShareLimits {
  std::size_t connections = 1000;
  // Bytes of requests that are being received or handled, and of responses that are being sent;
  // streams and tunnels do not count. A single response may exceed it under the conditions of
  // Share::take_answer().
  std::size_t bytes = 12UL * 1024 * 1024;

  // Limits of each untrusted caller.
  [[nodiscard]] std::size_t connections_each() const { return connections / 8; }
  [[nodiscard]] std::size_t bytes_each() const { return bytes / 3; }
  // Limits of all untrusted callers together; the rest is the reserve for trusted ones.
  [[nodiscard]] std::size_t connections_untrusted() const { return connections - connections / 4; }
  [[nodiscard]] std::size_t bytes_untrusted() const { return bytes / 2; }
};

// The name that a caller's connections are counted under: "uid 1000", "10.1.2.3",
// "2001:db8:0:1::/64".
[[nodiscard]] std::string caller_name(const net::Peer& peer);

class Shares;

// One connection and the bytes that it holds. Both are released on destruction.
class Share {
 public:
  Share() = default;
  ~Share() { release(); }
  Share(Share&& other) noexcept { *this = std::move(other); }
  Share& operator=(Share&& other) noexcept;
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // Takes `bytes` more. Returns false, and takes nothing, if the caller's or the server's limit
  // would be exceeded.
  [[nodiscard]] bool take(std::size_t bytes);
  // The same for the response to a request that has taken `held` bytes of this share. To avoid
  // refusing a large response for ever, it may exceed the limits of take(): for a trusted caller by
  // any amount if nothing but its request is held; for an untrusted caller if no untrusted caller
  // holds anything else, up to bytes_untrusted() and the server's limit.
  [[nodiscard]] bool take_answer(std::size_t bytes, std::size_t held);
  // Releases up to `bytes`.
  void release_bytes(std::size_t bytes);
  void release_all_bytes() { release_bytes(bytes_); }
  // Counts the connection and its bytes as a trusted caller's from now on.
  void trust();
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // taken and not released

 private:
  friend class Shares;
  void count(std::size_t bytes);
  void leave_untrusted();
  void release();

  std::shared_ptr<Shares> shares_;
  std::string name_;
  bool trusted_ = false;
  std::size_t bytes_ = 0;
};

class Shares : public std::enable_shared_from_this<Shares> {
 public:
  [[nodiscard]] static std::shared_ptr<Shares> make(const ShareLimits& limits);
  ~Shares();
  Shares(const Shares&) = delete;
  Shares& operator=(const Shares&) = delete;

  enum class Room { yes, caller_full, server_full };
  // Counts a connection of `peer` and fills `share`, which must be empty, if there is room for it.
  [[nodiscard]] Room enter(const net::Peer& peer, bool trusted, Share& share);

 private:
  friend class Share;
  explicit Shares(const ShareLimits& limits);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::http
