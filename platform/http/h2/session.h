// One HTTP/2 connection of a client: many concurrent requests, each with its own deadline.
//
// A server that has been silent too long gets a PING; if it does not answer, the connection and all
// its streams end with `unavailable`. If a request times out and nothing has arrived since it was
// sent, no new request uses this connection until the server sends something again: new requests
// would probably time out, too.
//
// Threading: the loop's thread only. Callers of ask() and the returned streams keep the session
// alive.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/http/traffic.h"
#include "platform/loop/tasks.h"

namespace holdfast::http::h2 {

struct SessionLimits {
  bool enabled = true;  // false: HTTP/1.1 only
  // Connections to one server; another one is opened when all are full. kube-apiserver allows 100
  // streams on each since 1.29, 250 before; an agent with a thousand watches needs enough of them.
  std::size_t connections = 32;
  std::size_t streams = 1000;  // on one connection, if the server allows them
  // Bytes of a stream that its reader has not taken, at most: fewer at first, and on a slow path.
  std::uint32_t stream_window = 256UL * 1024;
  // A connection with open streams that was silent for `ping_after` gets a PING and is closed if
  // nothing arrives within `ping_timeout`. client-go uses 30 s and 15 s; a broken uplink should be
  // noticed sooner, and a PING costs only 17 bytes.
  Duration ping_after = std::chrono::seconds(10);
  Duration ping_timeout = std::chrono::seconds(5);
};

struct SessionSettings {
  std::string authority = {};  // for requests without a Host header
  ReaderLimits reader = {};
  Duration idle = std::chrono::seconds(60);  // a connection without streams is closed after this
  SessionLimits limits = {};
  std::shared_ptr<Traffic> traffic = {};
  std::function<void()> on_change = [] {};  // state() may have changed
  std::function<void()> on_http1 = [] {};   // the server accepts HTTP/1.1 only
};

// How a request without a response ended.
enum class RequestFailure : std::uint8_t {
  final,        // it must not be sent again
  unprocessed,  // the server certainly did not process it
  broken,       // the connection broke before the response began
  wants_http1,  // the server did not process it and wants it over HTTP/1.1
};

class Session {
 public:
  enum class State : std::uint8_t {
    settling,  // the server's limits have not arrived yet
    ready,
    full,     // no stream is free
    suspect,  // a request timed out, and nothing has arrived since
    ending,   // the server is going away, or the connection has ended; final
  };

  // `connection` has negotiated "h2".
  Session(const asio::any_io_executor& executor, std::shared_ptr<net::Connection> connection,
          SessionSettings settings);
  // Closes the connection.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] State state() const;
  [[nodiscard]] std::size_t streams() const;

  // Sends `request` and waits for the response. With `streamed`, a 2xx is returned as a stream; all
  // other responses are complete. Errors: those of http::Client. `failure` tells whether the
  // request may be sent again.
  static asio::awaitable<Result<Response>> ask(std::shared_ptr<Session> self,
                                               const Request& request, bool streamed,
                                               MonoTime deadline, RequestFailure& failure);

 private:
  struct Core;
  struct Stream;
  class Asking;
  class Body;

  std::shared_ptr<Core> core_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::http::h2
