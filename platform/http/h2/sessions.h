// The connections of a client to one TLS server, as few as its requests fit on: one, and more only
// once the server lets no more streams be open on those that are there.
//
// Offers HTTP/2 and takes HTTP/1.1, too; then every connection carries one request at a time, and
// is the caller's. Callers who come while a connection is being made wait for that one.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "platform/http/h2/session.h"
#include "platform/loop/event.h"
#include "platform/net/transport.h"

namespace holdfast::http::h2 {

class Sessions : public std::enable_shared_from_this<Sessions> {
 public:
  // The callbacks of `settings` are ours.
  Sessions(net::HostPort at, std::shared_ptr<const tls::Context> tls, SessionSettings settings);

  // What carries the next request; one of the two is set.
  struct Way {
    std::shared_ptr<Session> session;
    bool fresh = false;                      // the session was made for this request
    std::shared_ptr<net::Connection> plain;  // speaks HTTP/1.1
  };

  // Errors: as net::connect(); exhausted, when all connections are full until `deadline`.
  static asio::awaitable<Result<Way>> find(std::shared_ptr<Sessions> self, MonoTime deadline);

  // Whether the server preferred HTTP/1.1 when it was last asked.
  [[nodiscard]] bool speaks_http1() const { return speaks_http1_; }

  // Takes no new requests on what is open now, and offers HTTP/2 again.
  void forget();

 private:
  class Connecting;

  [[nodiscard]] std::shared_ptr<Session> ready();
  [[nodiscard]] bool connecting() const;
  asio::awaitable<Result<Way>> connect(MonoTime deadline);
  void notify();

  net::HostPort at_;
  std::shared_ptr<const tls::Context> tls_;
  SessionSettings settings_;
  std::vector<std::shared_ptr<Session>> open_;
  std::optional<loop::Event> changed_;
  bool connecting_ = false;
  bool speaks_http1_ = false;
  bool http1_wanted_ = false;   // it said so: HTTP/2 is not offered any more
  std::uint64_t failures_ = 0;  // of connect()
  std::optional<Error> failure_;
};

}  // namespace holdfast::http::h2
