// The protocols by which a proxy is asked for a tunnel: HTTP's CONNECT (RFC 9110, 9.3.6) and
// SOCKS 5 (RFC 1928 and 1929).
//
// What the proxy sends is limited, read only up to the end of the handshake, and never passed on.
// Credentials do not appear in errors. Private to platform/proxy.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "platform/net/route.h"
#include "platform/proxy/url.h"

namespace holdfast::proxy {

namespace asio = boost::asio;

constexpr std::size_t socks5_text_max = 255;  // bytes of a user, a password or a host name

struct ProxyAddress {
  std::string name;
  net::HostPort at;
  std::shared_ptr<const tls::Context> tls;
};

// The part of net::Proxy that is the same for both protocols.
class AddressedProxy : public net::Proxy {
 public:
  AddressedProxy(ProxyAddress address, std::optional<Credentials> credentials)
      : address_(std::move(address)), credentials_(std::move(credentials)) {}

  [[nodiscard]] const std::string& name() const override { return address_.name; }
  [[nodiscard]] const net::HostPort& at() const override { return address_.at; }
  [[nodiscard]] const std::shared_ptr<const tls::Context>& tls() const override {
    return address_.tls;
  }

 protected:
  [[nodiscard]] const std::optional<Credentials>& credentials() const { return credentials_; }

 private:
  ProxyAddress address_;
  std::optional<Credentials> credentials_;
};

[[nodiscard]] std::shared_ptr<const net::Proxy> connect_proxy(
    ProxyAddress address, std::optional<Credentials> credentials);
[[nodiscard]] std::shared_ptr<const net::Proxy> socks5_proxy(
    ProxyAddress address, std::optional<Credentials> credentials);

}  // namespace holdfast::proxy
