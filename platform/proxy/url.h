// The URL of a proxy, as kubeconfigs and the variables HTTPS_PROXY and HTTP_PROXY give it, and the
// proxy that it stands for.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/net/route.h"
#include "platform/result.h"
#include "platform/tls/context.h"

namespace holdfast::proxy {

enum class Scheme : std::uint8_t { http, https, socks5 };

struct Credentials {
  std::string user;
  std::string password;
};

struct Url {
  Scheme scheme = Scheme::http;
  net::HostPort at;
  Credentials credentials = {};
  bool has_credentials = false;

  // Scheme, host and port: "http://proxy:3128". For logs and errors.
  [[nodiscard]] std::string name() const;
};

// Parses "http://proxy:3128", "https://user:password@proxy" (port 443) or "socks5://proxy" (port
// 1080; socks5h is the same: the proxy always resolves the server's name). A path is ignored.
// Errors: invalid; the text is not quoted, because it may contain a password.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

// How an https:// proxy is authenticated: by the system's roots and by `ca_pem`.
struct Trust {
  std::string ca_pem = {};
  tls::Now now = {};
};

// Errors: invalid (`ca_pem`).
[[nodiscard]] Result<std::shared_ptr<const net::Proxy>> make(const Url& url, const Trust& trust);

}  // namespace holdfast::proxy
