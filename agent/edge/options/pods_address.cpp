#include "agent/edge/options/pods_address.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "platform/net/interfaces.h"

namespace holdfast::agent {
namespace {

namespace asio = boost::asio;

constexpr std::uint16_t default_port = 10268;

std::optional<asio::ip::address> parse_address(const std::string& text) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(text, ec);
  return ec ? std::nullopt : std::optional(address);
}

// The same conditions as in YurtHub: an IPv4 address must be link-local and not in a range that
// clouds and CNIs use.
bool is_fit(const asio::ip::address& address) {
  if (address.is_v6()) return !address.to_v6().is_unspecified() && !address.is_loopback();
  const auto bytes = address.to_v4().to_bytes();
  const bool local = bytes[0] == 169 && bytes[1] == 254;
  const bool taken = bytes[2] == 31 || (bytes[2] == 1 && bytes[3] == 1);
  return local && !taken;
}

bool is_interface_name(const std::string& name) {
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '/' && c != ':'; };
  return !name.empty() && name.size() <= net::interface_name_max && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), is_plain);
}

}  // namespace

std::optional<net::HostPort> pods_address(const IdentityOptions& options) {
  if (!options.enable_dummy_if || options.dummy_if_ip.empty()) return std::nullopt;
  const auto address = parse_address(options.dummy_if_ip);
  if (!address) return std::nullopt;
  const auto secure = net::HostPort::parse(options.secure_listen);
  return net::HostPort{address->to_string(), secure ? secure->port : default_port};
}

bool listens_at(const net::HostPort& listener, const net::HostPort& at) {
  const bool v6 = at.host.find(':') != std::string::npos;
  const bool everywhere = listener.host == "::" || (listener.host == "0.0.0.0" && !v6);
  return listener == at || (everywhere && listener.port == at.port);
}

Status check_pods_interface(const IdentityOptions& options) {
  if (!options.enable_dummy_if || options.dummy_if_ip.empty()) return {};
  const auto address = parse_address(options.dummy_if_ip);
  if (!address || !is_fit(*address)) {
    return fail(Errc::invalid, "--dummy-if-ip: \"" + options.dummy_if_ip +
                                   "\" is neither an IPv6 address nor one of 169.254.0.0/16 "
                                   "without 169.254.31.0/24 and 169.254.1.1");
  }
  if (!is_interface_name(options.dummy_if_name)) {
    return fail(Errc::invalid,
                "--dummy-if-name: \"" + options.dummy_if_name +
                    "\" is no valid interface name: 1 to 15 characters without spaces, / and :");
  }
  const auto secure = net::HostPort::parse(options.secure_listen);
  const auto pods = pods_address(options);
  const bool everywhere = secure && *secure != *pods && listens_at(*secure, *pods);
  if (everywhere && options.require_client_certificates) {
    return fail(
        Errc::invalid,
        "--dummy-if-ip: pods have no client certificates: --secure-listen on all addresses needs "
        "--require-client-certificates=false");
  }
  return {};
}

}  // namespace holdfast::agent
