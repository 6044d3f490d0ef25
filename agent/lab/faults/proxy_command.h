// `holdfast-lab proxy`: runs fault proxies with toxiproxy's API, or changes those that run.
//
//   proxy [LISTEN TARGET] [--name N] [--toxic SPEC]... [--admin ADDRESS]
//                                              serves; without LISTEN TARGET, only the API
//   proxy list                                 prints a table
//   proxy set NAME TOXIC [attribute=value]...  adds or changes a toxic
//   proxy clear NAME [TOXIC]                   removes toxics

#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/loop/program.h"
#include "platform/net/transport.h"
#include "platform/result.h"

namespace holdfast::agent::faults {

struct ProxySettings {
  std::vector<std::string> words = {};  // the arguments without a flag
  std::string name = "proxy";
  std::vector<std::string> toxics = {};
  std::string admin = "127.0.0.1:8474";  // toxiproxy's port; port 0 picks a free one
  std::int64_t seed = 0;                 // 0: a random one
};

// Adds the command and its flags. They set the fields of `settings`, which outlives `options`.
void add_proxy_options(config::Options& options, ProxySettings& settings);

// Parses --admin. Errors: invalid (no address, or not on loopback).
[[nodiscard]] Result<net::HostPort> parse_admin(std::string_view text);

// Whether the words ask for a change of running proxies, or a list of them.
[[nodiscard]] bool is_client_command(const ProxySettings& settings);

// Serves until `stop` is requested. Logs "proxy listening" and "proxy admin listening" with the
// addresses. Errors: invalid arguments, and those of the listeners.
[[nodiscard]] boost::asio::awaitable<Status> serve_proxies(ProxySettings settings, loop::Stop& stop,
                                                           const Clock& clock);

// Performs `list`, `set` or `clear` and returns what to print. Errors: invalid (wrong words),
// not_found (no such proxy or toxic), unavailable (no proxy runs there), and the server's.
[[nodiscard]] boost::asio::awaitable<Result<std::string>> call_proxies(ProxySettings settings,
                                                                       const Clock& clock);

}  // namespace holdfast::agent::faults
