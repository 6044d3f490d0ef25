// A connection with an Engine: it transfers bytes in both directions until either side ends.
//
// The owner runs read_all() and write_all() in two tasks, which must keep the owner alive, and
// calls flush() whenever the engine has new output. Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>

#include "platform/http/h2/engine.h"
#include "platform/http/traffic.h"
#include "platform/loop/event.h"
#include "platform/net/connection.h"

namespace holdfast::http::h2 {

class Transport {
 public:
  class Owner : public Events {
   public:
    virtual void on_received() = 0;               // bytes have arrived and were processed
    virtual void on_ended(const Error& why) = 0;  // called once, when the connection has ended
  };

  // `owner` is borrowed and must outlive the transport.
  Transport(asio::any_io_executor executor, std::shared_ptr<net::Connection> connection,
            Engine::Role role, const EngineLimits& limits, Owner& owner,
            std::shared_ptr<Traffic> traffic);

  asio::awaitable<void> read_all();
  asio::awaitable<void> write_all();

  void flush() { output_.notify_all(); }
  // Closes the connection and calls on_ended(), unless the transport is over already.
  void end(Error why);
  // Like end(), but drops what the peer has not received yet.
  void abort(Error why);

  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] net::Connection& connection() { return *connection_; }
  // The loop's.
  [[nodiscard]] const Clock& clock() const { return clock_; }
  // When bytes last arrived; at first, when the transport was created.
  [[nodiscard]] MonoTime received_at() const { return received_at_; }
  // Since when the current write has been waiting for the peer to read; max() if none is.
  [[nodiscard]] MonoTime blocked_since() const { return blocked_since_; }

 private:
  void end(Error why, bool resets);

  std::shared_ptr<net::Connection> connection_;
  Owner& owner_;
  Engine engine_;
  std::shared_ptr<Traffic> traffic_;
  const Clock& clock_;
  loop::Event output_;
  MonoTime received_at_;
  MonoTime blocked_since_ = MonoTime::max();
  bool over_ = false;
};

}  // namespace holdfast::http::h2
