// The connections of a client to one TLS server. A further connection is opened only when the
// server allows no more streams on the existing ones.
//
// Offers HTTP/2 and accepts HTTP/1.1, too; then every connection carries one request at a time and
// belongs to the caller. Callers that arrive while a connection is being opened wait for it.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "platform/http/h2/session.h"
#include "platform/loop/event.h"
#include "platform/net/route.h"

namespace holdfast::http::h2 {

class Sessions : public std::enable_shared_from_this<Sessions> {
 public:
  // The callbacks of `settings` are replaced.
  Sessions(net::Route route, SessionSettings settings);

  // What carries the next request: exactly one of `session` and `plain` is set.
  struct ChosenConnection {
    std::shared_ptr<Session> session;
    bool fresh = false;                      // the session was opened for this request
    std::shared_ptr<net::Connection> plain;  // speaks HTTP/1.1
  };

  // Finds or opens a connection. Errors: those of net::connect(); exhausted if all connections are
  // full until `deadline`.
  static asio::awaitable<Result<ChosenConnection>> find(std::shared_ptr<Sessions> self,
                                                        MonoTime deadline);

  // Whether the server chose HTTP/1.1 for the last connection.
  [[nodiscard]] bool speaks_http1() const { return speaks_http1_; }

  // Sends no new requests on the open connections, and offers HTTP/2 again.
  void forget();

 private:
  class Connecting;

  [[nodiscard]] std::shared_ptr<Session> ready();
  [[nodiscard]] bool connecting() const;
  asio::awaitable<Result<ChosenConnection>> connect(MonoTime deadline);
  void notify();

  net::Route route_;
  SessionSettings settings_;
  std::vector<std::shared_ptr<Session>> open_;
  std::optional<loop::Event> changed_;
  bool connecting_ = false;
  bool speaks_http1_ = false;
  bool http1_wanted_ = false;   // the server asked for HTTP/1.1; HTTP/2 is not offered
  std::uint64_t failures_ = 0;  // of connect()
  std::optional<Error> failure_;
};

}  // namespace holdfast::http::h2
