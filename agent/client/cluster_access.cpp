#include <algorithm>

#include "agent/client/credential_plugin.h"
#include "agent/client/kubeconfig.h"
#include "platform/fs/file.h"
#include "platform/http/grammar.h"
#include "platform/log.h"
#include "platform/proxy/url.h"
#include "platform/terminal.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t pod_file_limit = 1 << 20;

// The proxy that was chosen for a server; null for none.
Result<std::shared_ptr<const net::Proxy>> make_proxy(const proxy::Rules::Choice& choice,
                                                     const tls::ClientSettings& settings) {
  if (choice.url.empty()) return nullptr;
  const auto url = proxy::parse_url(choice.url);
  if (!url) return fail(choice.variable, url.error());
  proxy::Trust trust{.ca_pem = settings.ca_pem};
  trust.now = settings.now;
  auto made = proxy::make(*url, trust);
  if (!made) return fail(choice.variable, made.error());
  return made;
}

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view url) {
  if (url.find('@') != std::string_view::npos) {
    return fail(Errc::invalid, "server: credentials in the URL are not supported");
  }
  const auto bad = [shown = escape_for_terminal(url)](const std::string& why) {
    return fail(Errc::invalid, "server \"" + shown + "\"" + why);
  };
  ServerUrl read{.tls = url.starts_with("https://"), .server = {}};
  if (!read.tls && !url.starts_with("http://")) return bad(" is neither http:// nor https://");
  url.remove_prefix(read.tls ? 8 : 7);
  const std::size_t slash = url.find('/');
  std::string authority(url.substr(0, slash));
  std::string& prefix = read.server.path_prefix;
  if (slash != std::string_view::npos) prefix = url.substr(slash);
  while (prefix.ends_with('/')) prefix.pop_back();
  const bool has_port = authority.rfind(':') != std::string::npos && !authority.ends_with(']');
  if (!has_port) authority += read.tls ? ":443" : ":80";
  auto at = net::HostPort::parse(authority);
  if (!at) return bad(": not HOST:PORT: \"" + escape_for_terminal(authority) + "\"");
  const bool good_prefix = prefix.empty() || http::is_acceptable_target(prefix);
  if (!http::is_host(authority) || !good_prefix) return bad(": has a character that no URL has");
  read.server.at = *std::move(at);
  return read;
}

std::vector<ServerAddress> ClusterAccess::servers() const {
  std::vector<ServerAddress> all{{server, path_prefix}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

bool ClusterAccess::has_same_plugin(const ClusterAccess& other) const {
  if (plugin == nullptr || other.plugin == nullptr) return plugin == other.plugin;
  return plugin->config() == other.plugin->config();
}

proxy::Rules::Choice ClusterAccess::proxy_for(const ServerAddress& to) const {
  if (!proxy_url.empty()) return {proxy_url, "proxy-url"};
  return environment.choose(tls, to.at);
}

Result<std::vector<http::Endpoint>> ClusterAccess::endpoints() const {
  std::shared_ptr<const tls::Context> context;
  if (tls) {
    TRY(context, tls::Context::for_client(tls_settings));
  }
  std::vector<http::Endpoint> made;
  std::string last_url;
  std::shared_ptr<const net::Proxy> last;  // most often all servers have the same
  for (ServerAddress& each : servers()) {
    const proxy::Rules::Choice choice = proxy_for(each);
    if (choice.url.empty() || choice.url != last_url) {
      TRY(last, make_proxy(choice, tls_settings));
      last_url = choice.url;
    }
    made.push_back({std::move(each.at), context, last});
  }
  return made;
}

std::vector<std::string> warnings_about(const ClusterAccess& access) {
  std::vector<std::string> warnings = access.exposed_files;
  const bool has_token =
      !access.token.empty() || !access.token_file.empty() || access.plugin != nullptr;
  for (const ServerAddress& server : access.servers()) {
    const std::string name = server.at.text();
    if (access.tls && access.tls_settings.insecure) {
      warnings.push_back("the certificate of the API server " + name +
                         " is not verified (insecure-skip-tls-verify): whoever is on the network "
                         "path can read the credentials and change every answer");
    }
    if (!access.tls && has_token) {
      warnings.push_back("the token is sent unencrypted to http://" + name +
                         ": whoever is on the network path can use it");
    }
  }
  return warnings;
}

void log_warnings_about(const ClusterAccess& access) {
  for (const std::string& warning : warnings_about(access)) {
    log_warn("unsafe access to the cluster", {{"problem", warning}});
  }
  for (const std::string& field : access.unknown_fields) {
    log_warn("unknown field of the kubeconfig ignored", {{"field", field}});
  }
  for (const ServerAddress& server : access.servers()) {
    const proxy::Rules::Choice choice = access.proxy_for(server);
    const auto url = proxy::parse_url(choice.url);
    if (choice.url.empty() || !url) continue;  // endpoints() reports a wrong URL.
    log_info("API server reached through a proxy",
             {{"server", server.at.text()}, {"proxy", url->name()}, {"from", choice.variable}});
  }
}

Result<ClusterAccess> in_cluster_access(const proc::Environment& environment,
                                        const std::string& folder) {
  const auto host = environment("KUBERNETES_SERVICE_HOST");
  const auto port = environment("KUBERNETES_SERVICE_PORT");
  if (!host || !port || host->empty() || port->empty()) {
    return fail(Errc::not_found, "no kubeconfig is given, and this process does not run in a pod");
  }
  const bool is_v6 = host->find(':') != std::string::npos;
  ClusterAccess access;
  access.tls = true;
  TRY(access.server, net::HostPort::parse((is_v6 ? "[" + *host + "]" : *host) + ":" + *port));
  TRY(access.tls_settings.ca_pem, fs::read_all(folder + "/ca.crt", pod_file_limit));
  access.token_file = folder + "/token";
  TRY(access.token, fs::read_all(access.token_file, pod_file_limit));
  access.token = trim(access.token);
  return access;
}

}  // namespace holdfast::agent
