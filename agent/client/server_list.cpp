#include "agent/client/server_list.h"

#include <algorithm>

#include "platform/text.h"

namespace holdfast::agent {
namespace {

// Adds kube-apiserver's default port to an https:// URL that names no port.
std::string with_port(std::string url) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t slash = std::min(url.find('/', host), url.size());
  const std::string authority = url.substr(host, slash - host);
  const bool named = authority.rfind(':') != std::string::npos && !authority.ends_with(']');
  if (named || authority.empty() || url.starts_with("http://")) return url;
  return url.insert(slash, ":6443");
}

}  // namespace

Result<ServerList> parse_servers(const std::vector<std::string>& texts) {
  ServerList list;
  for (const std::string& text : texts) {
    const bool bare = text.find("://") == std::string::npos;
    auto url = parse_server_url(with_port(bare ? "https://" + text : text));
    const bool good = url && (!bare || url->server.path_prefix.empty());
    if (!good) return fail(Errc::invalid, "\"" + text + "\" is not https://host:port");
    if (!list.servers.empty() && url->tls != list.tls) {
      return fail(Errc::invalid, "\"" + text + "\": either all servers use TLS or none");
    }
    const auto known = std::find(list.servers.begin(), list.servers.end(), url->server);
    if (known != list.servers.end()) return fail(Errc::invalid, "\"" + text + "\" is given twice");
    list.tls = url->tls;
    list.servers.push_back(std::move(url->server));
  }
  return list;
}

}  // namespace holdfast::agent
