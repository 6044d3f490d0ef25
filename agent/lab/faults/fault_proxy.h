// A TCP proxy that breaks a link on demand: refuses, swallows, delays or throttles.
//
// A black hole is what a cut cable looks like: connections are accepted, those that exist stay
// open, and not one byte gets through until the fault ends; then what was stuck goes on.
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
  enum class Way : std::uint8_t { pass, refuse, black_hole };

  Way way = Way::pass;
  Duration delay{};                   // of every piece, in each direction
  std::int64_t bytes_per_second = 0;  // in each direction of a connection; 0: no limit

  // "pass", "refuse", "black-hole", "delay=300ms", "limit=2000", or several with commas between.
  // Errors: invalid, naming the word.
  [[nodiscard]] static Result<Fault> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  bool operator==(const Fault&) const = default;
};

class FaultProxy {
 public:
  // Begins to listen. Port 0 takes a free one. Errors: unavailable (in use).
  [[nodiscard]] static Result<std::unique_ptr<FaultProxy>> open(asio::any_io_executor executor,
                                                                const net::HostPort& listen,
                                                                net::HostPort target);
  ~FaultProxy();

  // From now on. Refusing also resets the connections that exist.
  void set(const Fault& fault);
  [[nodiscard]] const Fault& fault() const;
  [[nodiscard]] std::uint16_t port() const;

  asio::awaitable<void> stop();

 private:
  struct State;
  explicit FaultProxy(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::agent
