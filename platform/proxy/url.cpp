#include "platform/proxy/url.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "platform/http/grammar.h"
#include "platform/proxy/protocol.h"
#include "platform/text.h"

namespace holdfast::proxy {
namespace {

constexpr std::size_t url_limit = 2048;

struct KnownScheme {
  std::string_view name;
  Scheme scheme;
  std::uint16_t port;
};

constexpr KnownScheme known_schemes[] = {{"http", Scheme::http, 80},
                                         {"https", Scheme::https, 443},
                                         {"socks5", Scheme::socks5, 1080},
                                         {"socks5h", Scheme::socks5, 1080}};

// A printable ASCII character that may stand in a URL and needs no escape in YAML.
bool is_url_character(char c) {
  return c > ' ' && c < '\x7f' && std::string_view("\"\\<>^`{|}").find(c) == std::string_view::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

[[nodiscard]] tl::unexpected<Error> bad_url(const std::string& what) {
  return fail(Errc::invalid, "proxy URL: " + what);
}

Result<std::string> decoded(std::string_view text) {
  auto plain = percent_decode(text, false);
  if (!plain) return bad_url("the credentials have a malformed percent escape");
  if (std::any_of(plain->begin(), plain->end(), is_control)) {
    return bad_url("the credentials contain a control character");
  }
  return plain;
}

Status read_credentials(std::string_view userinfo, Url& url) {
  url.has_credentials = true;
  const std::size_t colon = userinfo.find(':');
  TRY(url.credentials.user, decoded(userinfo.substr(0, colon)));
  if (colon == std::string_view::npos) return {};
  TRY(url.credentials.password, decoded(userinfo.substr(colon + 1)));
  return {};
}

}  // namespace

std::string Url::name() const {
  const auto* known =
      std::find_if(std::begin(known_schemes), std::end(known_schemes),
                   [this](const KnownScheme& each) { return each.scheme == scheme; });
  return std::string(known->name) + "://" + at.text();
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > url_limit) return bad_url("longer than 2048 bytes");
  if (!std::all_of(text.begin(), text.end(), is_url_character)) {
    return bad_url("contains a character that must be percent-encoded");
  }
  const std::size_t colon = text.find("://");
  const std::string scheme = to_lower(text.substr(0, colon));
  const auto* known =
      std::find_if(std::begin(known_schemes), std::end(known_schemes),
                   [&scheme](const KnownScheme& each) { return each.name == scheme; });
  if (colon == std::string_view::npos || known == std::end(known_schemes)) {
    return bad_url("the scheme is none of http, https, socks5 and socks5h");
  }
  text.remove_prefix(colon + 3);
  std::string_view authority = text.substr(0, text.find_first_of("/?#"));
  Url url{.scheme = known->scheme};
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (auto read = read_credentials(authority.substr(0, at), url); !read)
      return fail(read.error());
    authority.remove_prefix(at + 1);
  }
  std::string address(authority);
  const bool has_port = address.rfind(':') != std::string::npos && !address.ends_with(']');
  if (!has_port) address += ":" + std::to_string(known->port);
  auto at = net::HostPort::parse(address);
  if (!at || at->port == 0 || !http::is_host(at->text())) return bad_url("no valid HOST:PORT");
  url.at = *std::move(at);
  if (url.scheme != Scheme::socks5) return url;
  const Credentials& given = url.credentials;
  if (given.user.size() > socks5_text_max || given.password.size() > socks5_text_max) {
    return bad_url("SOCKS allows 255 bytes for the user and for the password");
  }
  return url;
}

Result<std::shared_ptr<const net::Proxy>> make(const Url& url, const Trust& trust) {
  std::shared_ptr<const tls::Context> context;
  if (url.scheme == Scheme::https) {
    tls::ClientSettings settings{.ca_pem = trust.ca_pem};
    settings.system_roots_too = true;
    settings.now = trust.now;
    TRY(context, tls::Context::for_client(settings));
  }
  auto credentials = url.has_credentials ? std::optional(url.credentials) : std::nullopt;
  ProxyAddress address{url.name(), url.at, std::move(context)};
  if (url.scheme == Scheme::socks5) return socks5_proxy(std::move(address), std::move(credentials));
  return connect_proxy(std::move(address), std::move(credentials));
}

}  // namespace holdfast::proxy
