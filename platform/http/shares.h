// Divides a server's connections and memory among its callers, so that none can take them all.
//
// A caller is a user of this machine, by uid, or a network address; of IPv6 the /64 network, which
// one machine commonly has to itself. Callers that the server trusts may use everything; all others
// together leave a reserve for them, and each has a limit of its own.
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
  // Of requests that are being received or answered, and of answers that are being sent; streams
  // and tunnels do not count. Only one answer to a trusted caller may be larger: at most it and
  // the request that it answers are held then, see Share::take_answer().
  std::size_t bytes = 12UL * 1024 * 1024;

  // Of a caller that is not trusted.
  [[nodiscard]] std::size_t connections_each() const { return connections / 8; }
  [[nodiscard]] std::size_t bytes_each() const { return bytes / 3; }
  // Of all these callers together; the rest is the reserve for trusted ones.
  [[nodiscard]] std::size_t connections_untrusted() const { return connections - connections / 4; }
  [[nodiscard]] std::size_t bytes_untrusted() const { return bytes / 2; }
};

// What connections are counted under: "uid 1000", "10.1.2.3", "2001:db8:0:1::/64".
[[nodiscard]] std::string caller_name(const net::Peer& peer);

class Shares;

// One connection and the bytes that it holds; both are given back when this is destroyed.
class Share {
 public:
  Share() = default;
  ~Share() { release(); }
  Share(Share&& other) noexcept { *this = std::move(other); }
  Share& operator=(Share&& other) noexcept;
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // Takes so many bytes more. False when the caller's or the server's limit is met; nothing is
  // taken then.
  [[nodiscard]] bool take(std::size_t bytes);
  // The same for an answer to a request that has taken `held` bytes of this share. It may be larger
  // than that: that of a trusted caller of any size when nothing but its request is under way; that
  // of another one, when no such caller has anything else under way, up to what all of these may
  // have together and within the limit of the server.
  [[nodiscard]] bool take_answer(std::size_t bytes, std::size_t held);
  // Gives back up to so many.
  void give_back(std::size_t bytes);
  void give_back_all() { give_back(bytes_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // taken and not given back

 private:
  friend class Shares;
  void count(std::size_t bytes);
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
  // Counts a connection into `share` if there is room for it.
  [[nodiscard]] Room enter(const net::Peer& peer, bool trusted, Share& share);

 private:
  friend class Share;
  explicit Shares(const ShareLimits& limits);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::http
