// One HTTP/2 connection of a client: many requests at a time, each with a deadline of its own.
//
// A server that fell silent is asked for a sign of life (PING); without one the connection and all
// its streams end with `unavailable`. After a request that timed out without a byte heard since,
// nothing new is sent here until the server speaks again: what made it wait would wait, too.
//
// Threading: the loop's thread only. Kept alive by those who ask and by the streams they got.

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
  // To one server; a second one is made when the first is full. kube-apiserver allows 100 streams
  // on each since 1.29, 250 before: an agent with a thousand watches must not run out of them.
  std::size_t connections = 32;
  std::size_t streams = 1000;                  // on one connection, if the server allows as many
  std::uint32_t stream_window = 256UL * 1024;  // bytes of a stream that its reader did not take yet
  // A connection with open streams that was silent for so long is asked for a sign of life, and
  // given up without one. client-go takes 30 s and 15 s; a dark uplink should be noticed sooner,
  // and a PING costs 17 bytes, when there is nothing else to send.
  Duration ping_after = std::chrono::seconds(10);
  Duration ping_timeout = std::chrono::seconds(5);
};

struct SessionSettings {
  std::string authority = {};  // for requests that name no host
  ReaderLimits reader = {};
  Duration idle = std::chrono::seconds(60);  // without streams, until it is closed
  SessionLimits limits = {};
  std::shared_ptr<Traffic> traffic = {};
  std::function<void()> on_change = [] {};  // state() may have changed
  std::function<void()> on_http1 = [] {};   // the server takes requests over HTTP/1.1 only
};

// How a request that got no answer ended.
enum class Fate : std::uint8_t {
  final,        // not to be sent again
  unprocessed,  // the server surely did nothing about it
  broken,       // the connection broke before the answer began
  wants_http1,  // nothing was done about it, and it is to be sent over HTTP/1.1
};

class Session {
 public:
  enum class State : std::uint8_t {
    settling,  // the server has not told its limits yet
    ready,
    full,     // no stream is free
    suspect,  // a request timed out in silence
    ending,   // the server goes away, or the connection is over: never again
  };

  // `connection` has agreed on "h2".
  Session(const asio::any_io_executor& executor, std::shared_ptr<net::Connection> connection,
          SessionSettings settings);
  // Cuts the connection.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] State state() const;
  [[nodiscard]] std::size_t streams() const;

  // Sends `request` and waits for its answer: a 2xx comes as a stream if `streamed`, everything
  // else whole. Errors: as http::Client; `fate` says more about them.
  static asio::awaitable<Result<Response>> ask(std::shared_ptr<Session> self,
                                               const Request& request, bool streamed,
                                               MonoTime deadline, Fate& fate);

 private:
  struct Core;
  struct Stream;
  class Asking;
  class Body;

  std::shared_ptr<Core> core_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::http::h2
