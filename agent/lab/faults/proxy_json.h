// The JSON of toxiproxy's HTTP API (2.x): proxies and toxics.
//
// As in toxiproxy, unknown fields of a proxy or toxic are ignored, because clients send what they
// have received. Unknown attributes of a toxic are an error. Pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/faults/toxic.h"
#include "platform/net/transport.h"
#include "sync/wire/json.h"

namespace holdfast::agent::faults {

namespace json = sync::json;

// A proxy as clients describe it.
struct ProxyConfig {
  std::string name;
  net::HostPort listen;
  net::HostPort upstream;
  bool enabled = true;

  bool operator==(const ProxyConfig&) const = default;
};

// Errors of all functions that read: invalid, in toxiproxy's words where it has any.

// Parses an address to listen on: an IP address, "localhost" (127.0.0.1) or nothing (all IPv4
// addresses) before the port.
[[nodiscard]] Result<net::HostPort> parse_listen(std::string_view text);
// Parses the address of a server: a name or an IP address, and a port.
[[nodiscard]] Result<net::HostPort> parse_upstream(std::string_view text);

// A new proxy. Without "listen" it listens on a free port of 127.0.0.1.
[[nodiscard]] Result<ProxyConfig> read_proxy(std::string_view body);
// An array of new proxies, with different names.
[[nodiscard]] Result<std::vector<ProxyConfig>> read_proxies(std::string_view body);
// `current` with the fields of `body`. The name is never changed.
[[nodiscard]] Result<ProxyConfig> read_proxy_change(std::string_view body, ProxyConfig current);

[[nodiscard]] Result<Toxic> read_toxic(std::string_view body);
[[nodiscard]] Result<Toxic> read_toxic(const json::value& document);
// `current` with the attributes and the toxicity of `body`; other fields are ignored.
[[nodiscard]] Result<Toxic> read_toxic_change(std::string_view body, Toxic current);

[[nodiscard]] json::object to_json(const Toxic& toxic);
// Toxics of the upstream direction come first, as in toxiproxy, and those of both directions last.
[[nodiscard]] json::array to_json(const std::vector<Toxic>& toxics);
[[nodiscard]] json::object to_json(const ProxyConfig& proxy, const std::vector<Toxic>& toxics);

}  // namespace holdfast::agent::faults
