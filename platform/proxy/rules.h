// Which proxy the environment selects for a server: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, upper or
// lower case, with the rules of Go's clients.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "platform/net/transport.h"

namespace holdfast::proxy {

class Rules {
 public:
  // Returns the value of an environment variable, or nothing if it is unset.
  using Environment = std::function<std::optional<std::string>(const char* name)>;

  Rules() = default;  // no proxy
  [[nodiscard]] static Rules from(const Environment& environment);

  struct Choice {
    std::string url;       // "" for a direct connection; it may contain a password
    std::string variable;  // that gave it: "HTTPS_PROXY"
  };
  // The proxy for the server `to`, with or without TLS. "localhost" and loopback addresses are
  // always reached directly.
  [[nodiscard]] Choice choose(bool tls, const net::HostPort& to) const;

  bool operator==(const Rules&) const = default;

 private:
  struct Variable {
    std::string name;
    std::string value;
    bool operator==(const Variable&) const = default;
  };
  [[nodiscard]] static Variable first_of(const Environment& environment, const char* upper,
                                         const char* lower);

  Variable for_tls_;
  Variable for_plain_;
  std::string exceptions_;  // NO_PROXY
};

// Whether the list `no_proxy` exempts the server: "*", a name (with all its subdomains), ".suffix"
// or "*.suffix" (subdomains only), an address, or CIDR; all but CIDR may be followed by ":port".
[[nodiscard]] bool is_exempt(std::string_view no_proxy, const net::HostPort& to);

}  // namespace holdfast::proxy
