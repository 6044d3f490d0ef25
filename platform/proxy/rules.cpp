#include "platform/proxy/rules.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <utility>

#include "platform/text.h"

namespace holdfast::proxy {
namespace {

namespace ip = boost::asio::ip;

// The address that the text is; an IPv4 address in IPv6 notation is an IPv4 address.
std::optional<ip::address> address_of(std::string_view text) {
  boost::system::error_code ec;
  const ip::address address = ip::make_address(text, ec);
  if (ec) return std::nullopt;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return ip::address(ip::make_address_v4(ip::v4_mapped, address.to_v6()));
  }
  return address;
}

// Nothing if the text is no CIDR block; otherwise whether it contains the address.
std::optional<bool> cidr_contains(std::string_view text, const std::optional<ip::address>& at) {
  if (text.find('/') == std::string_view::npos) return std::nullopt;
  boost::system::error_code ec;
  const auto v4 = ip::make_network_v4(text, ec);
  if (!ec) {
    if (!at || !at->is_v4()) return false;
    return ip::network_v4(at->to_v4(), v4.prefix_length()).canonical() == v4.canonical();
  }
  const auto v6 = ip::make_network_v6(text, ec);
  if (ec) return std::nullopt;
  if (!at || !at->is_v6()) return false;
  return ip::network_v6(at->to_v6(), v6.prefix_length()).canonical() == v6.canonical();
}

struct Exception {
  std::string_view host;
  std::string_view port;  // "" for all
};

// Splits "host:port", "[::1]:port", "::1" and "host". No host is left of ":port".
Exception split_exception(std::string_view entry) {
  const bool bracketed = entry.starts_with('[');
  const std::size_t end = bracketed ? entry.find(']') : std::string_view::npos;
  if (end != std::string_view::npos) {
    const std::string_view rest = entry.substr(end + 1);
    return {entry.substr(1, end - 1), rest.starts_with(':') ? rest.substr(1) : ""};
  }
  const std::size_t colon = entry.find(':');
  const bool one = colon != std::string_view::npos && colon == entry.rfind(':');
  if (!one) return {entry, ""};
  return {entry.substr(0, colon), entry.substr(colon + 1)};
}

// ".suffix" and "*.suffix" mean subdomains only; a name also means itself.
bool matches_name(std::string_view entry, std::string_view host) {
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  if (entry.starts_with('.')) return host.ends_with(entry);
  return host == entry || (host.ends_with(entry) && host.size() > entry.size() &&
                           host[host.size() - entry.size() - 1] == '.');
}

}  // namespace

bool is_exempt(std::string_view no_proxy, const net::HostPort& to) {
  const std::string host = to_lower(to.host);
  const std::string port = std::to_string(to.port);
  const auto address = address_of(host);
  const std::string list = to_lower(no_proxy);
  for (const std::string_view each : split(list, ',')) {
    const std::string_view entry = trim(each);
    if (entry == "*") return true;
    if (const auto contains = cidr_contains(entry, address)) {
      if (*contains) return true;
      continue;
    }
    const Exception exception = split_exception(entry);
    if (exception.host.empty()) continue;
    if (!exception.port.empty() && exception.port != port) continue;
    const auto literal = address_of(exception.host);
    if (literal ? literal == address : matches_name(exception.host, host)) return true;
  }
  return false;
}

Rules::Variable Rules::first_of(const Environment& environment, const char* upper,
                                const char* lower) {
  for (const char* name : {upper, lower}) {
    const auto value = environment(name);
    if (value && !trim(*value).empty()) return {name, std::string(trim(*value))};
  }
  return {};
}

Rules Rules::from(const Environment& environment) {
  Rules rules;
  rules.for_tls_ = first_of(environment, "HTTPS_PROXY", "https_proxy");
  rules.for_plain_ = first_of(environment, "HTTP_PROXY", "http_proxy");
  rules.exceptions_ = first_of(environment, "NO_PROXY", "no_proxy").value;
  return rules;
}

Rules::Choice Rules::choose(bool tls, const net::HostPort& to) const {
  const Variable& variable = tls ? for_tls_ : for_plain_;
  if (variable.value.empty()) return {};
  const auto address = address_of(to.host);
  const bool local =
      equals_ignoring_case(to.host, "localhost") || (address && address->is_loopback());
  if (local || is_exempt(exceptions_, to)) return {};
  const bool has_scheme = variable.value.find("://") != std::string::npos;
  return {has_scheme ? variable.value : "http://" + variable.value, variable.name};
}

}  // namespace holdfast::proxy
