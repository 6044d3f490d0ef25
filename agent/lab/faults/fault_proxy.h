// A TCP proxy whose link can be damaged on demand by toxics (toxic.h).
//
// Toxics apply to new and to existing connections. With `refuse`, the proxy does not listen, and
// its connections are reset; a black hole behaves like a cut cable: connections are accepted,
// existing ones stay open, and no byte gets through until it is removed. Held-back bytes are then
// delivered.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/faults/proxied_connection.h"
#include "agent/lab/faults/toxic.h"
#include "platform/net/transport.h"

namespace holdfast::agent::faults {

namespace asio = boost::asio;

struct FaultProxySettings {
  bool enabled = true;                   // whether it listens from the beginning
  std::uint64_t seed = 0;                // of everything that toxics draw
  std::shared_ptr<ProxyLoad> load = {};  // shared with other proxies; null: its own
  // Where it listens and from where it connects; null: our own namespace.
  std::shared_ptr<const net::NetworkNamespace> listen_in = {};
  std::shared_ptr<const net::NetworkNamespace> connect_in = {};
};

class FaultProxy {
 public:
  // Listens on `listen` and forwards connections to `upstream`. Port 0 picks a free port, which the
  // proxy keeps. Errors: invalid (not an IP address), unavailable (the port is in use), denied.
  [[nodiscard]] static Result<std::unique_ptr<FaultProxy>> open(asio::any_io_executor executor,
                                                                const net::HostPort& listen,
                                                                net::HostPort upstream,
                                                                FaultProxySettings settings = {});
  // Closes the listener and all connections.
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  // Adds a toxic that complete() has accepted. Errors: conflict (the name is taken), exhausted (too
  // many).
  [[nodiscard]] Status add(const Toxic& toxic);
  // Applies the values and the toxicity of `toxic`. Errors: not_found (no toxic of that name).
  [[nodiscard]] Status change(const Toxic& toxic);
  // Errors: not_found; exhausted (out of descriptors), if the toxic was `refuse`. Then it is
  // removed, and the proxy is disabled.
  [[nodiscard]] Status remove(std::string_view name);
  // Replaces all toxics. The new ones act before the old ones are removed.
  [[nodiscard]] Status set(const std::vector<Toxic>& toxics);
  [[nodiscard]] const std::vector<Toxic>& toxics() const;
  // Null if there is no toxic of that name.
  [[nodiscard]] const Toxic* find(std::string_view name) const;

  // Errors: those of open(); the proxy then stays disabled.
  [[nodiscard]] Status enable();
  // Stops listening, releases the address and closes all connections.
  void disable();
  [[nodiscard]] bool is_enabled() const;

  // Changes the addresses. If they differ, all connections are closed. Errors: those of open();
  // nothing has changed then.
  [[nodiscard]] Status move(net::HostPort listen, net::HostPort upstream);
  [[nodiscard]] const net::HostPort& listen() const;
  [[nodiscard]] const net::HostPort& upstream() const;
  [[nodiscard]] std::uint16_t port() const { return listen().port; }

  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] const ProxyTraffic& traffic(Stream direction) const;

  // Closes the listener and all connections, and waits until they have ended.
  asio::awaitable<void> stop();

 private:
  struct State;
  explicit FaultProxy(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::agent::faults
