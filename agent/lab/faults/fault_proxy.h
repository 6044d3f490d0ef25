// A TCP proxy that breaks a link on demand: it refuses connections, drops all traffic, delays it or
// limits its rate.
// A black hole behaves like a cut cable: connections are accepted, existing ones stay open, and no
// byte gets through until the fault ends. Held-back bytes are then delivered.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct Fault {
  enum class Kind : std::uint8_t { pass, refuse, black_hole };

  Kind kind = Kind::pass;
  Duration delay{};                   // of every chunk read, in each direction
  std::int64_t bytes_per_second = 0;  // in each direction of a connection; 0: no limit

  // Parses "pass", "refuse", "black-hole", "delay=300ms", "limit=2000" (bytes per second), or
  // several of them separated by commas. Errors: invalid, naming the word.
  [[nodiscard]] static Result<Fault> parse(std::string_view text);
  // The inverse of parse().
  [[nodiscard]] std::string text() const;
  bool operator==(const Fault&) const = default;
};

class FaultProxy {
 public:
  // Listens on `listen` and forwards connections to `target`. Port 0 picks a free port. Errors:
  // unavailable (the port is in use).
  [[nodiscard]] static Result<std::unique_ptr<FaultProxy>> open(asio::any_io_executor executor,
                                                                const net::HostPort& listen,
                                                                net::HostPort target);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  // Applies `fault` to new and existing connections. Fault::Kind::refuse also closes existing ones.
  void set(const Fault& fault);
  [[nodiscard]] const Fault& fault() const;
  [[nodiscard]] std::uint16_t port() const;

  // Closes the listener and all connections.
  asio::awaitable<void> stop();

 private:
  struct State;
  explicit FaultProxy(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::agent
