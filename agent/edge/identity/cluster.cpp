#include "agent/edge/identity/cluster.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "agent/client/api_client.h"
#include "platform/fs/file.h"
#include "platform/text.h"
#include "platform/tls/certificate.h"
#include "platform/version.h"
#include "sync/api/object_header.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t ca_file_limit = 1 << 20;
constexpr std::string_view cluster_info = "/api/v1/namespaces/kube-public/configmaps/cluster-info";

Result<ClusterAccess> access_by_token(const IdentityOptions& options) {
  ClusterAccess access;
  if (auto set = override_servers(options, access); !set) return fail(set.error());
  access.token = options.join_token;
  if (options.ca_file.empty()) return access;
  TRY(access.tls_settings.ca_pem, fs::read_all(options.ca_file, ca_file_limit));
  if (auto read = tls::read_certificate(access.tls_settings.ca_pem); !read) {
    return fail("--ca-file: " + options.ca_file, read.error());
  }
  return access;
}

// "https://host" with kube-apiserver's port, when it names none.
std::string with_port(std::string url) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t slash = std::min(url.find('/', host), url.size());
  const std::string authority = url.substr(host, slash - host);
  const bool named = authority.rfind(':') != std::string::npos && !authority.ends_with(']');
  if (named || authority.empty() || url.starts_with("http://")) return url;
  return url.insert(slash, ":6443");
}

// The first cluster's authority in a kubeconfig.
Result<std::string> authority_in(const std::string& kubeconfig) {
  try {
    const YAML::Node root = YAML::Load(kubeconfig);
    const YAML::Node data = root["clusters"][0]["cluster"]["certificate-authority-data"];
    if (data && data.IsScalar()) return base64_decode(trim(data.Scalar()));
  } catch (const YAML::Exception& error) {
    return fail(Errc::invalid, error.msg);
  }
  return fail(Errc::invalid, "no certificate-authority-data");
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
      return fail(Errc::invalid, "\"" + text + "\": either all servers speak TLS or none");
    }
    const auto known = std::find(list.servers.begin(), list.servers.end(), url->server);
    if (known != list.servers.end()) return fail(Errc::invalid, "\"" + text + "\" comes twice");
    list.tls = url->tls;
    list.servers.push_back(std::move(url->server));
  }
  return list;
}

Status override_servers(const IdentityOptions& options, ClusterAccess& access) {
  if (options.servers.empty()) return {};
  TRY(ServerList list, parse_servers(options.servers));
  access.tls = list.tls;
  access.server = std::move(list.servers.front().at);
  access.path_prefix = std::move(list.servers.front().path_prefix);
  list.servers.erase(list.servers.begin());
  access.others = std::move(list.servers);
  return {};
}

Result<std::string> parse_ca_hash(std::string_view text) {
  constexpr std::string_view kind = "sha256:";
  const std::string digits = to_lower(text.substr(std::min(kind.size(), text.size())));
  const bool good = text.starts_with(kind) && digits.size() == 64 &&
                    digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (good) return digits;
  return fail(Errc::invalid, "\"" + std::string(text) + "\" is not sha256: and 64 digits");
}

Result<ClusterAccess> read_access(const IdentityOptions& options) {
  if (!options.join_token.empty()) return access_by_token(options);
  TRY(ClusterAccess access,
      read_kubeconfig(options.enrols() ? options.bootstrap_kubeconfig : options.kubeconfig));
  if (auto set = override_servers(options, access); !set) return fail(set.error());
  return access;
}

Result<std::string> pinned_authority(std::string_view document, std::string_view ca_hash) {
  TRY(const std::string wanted, parse_ca_hash(ca_hash));
  TRY(const auto kubeconfig, sync::text_at(document, {"data", "kubeconfig"}));
  if (!kubeconfig) return fail(Errc::invalid, "cluster-info: no kubeconfig");
  auto pem = authority_in(*kubeconfig);
  if (!pem) return fail("cluster-info", pem.error());
  TRY(const tls::Certificate authority, tls::read_certificate(*pem));
  // That one alone: whatever else is in the text was not pinned.
  if (authority.public_key_sha256 == wanted) return tls::first_certificate(*pem);
  return fail(Errc::denied,
              "the server's authority is not the one that was pinned: its hash is "
              "sha256:" +
                  authority.public_key_sha256);
}

asio::awaitable<Result<std::string>> learn_authority(const IdentityOptions& options,
                                                     const Clock& clock, MonoTime deadline,
                                                     std::size_t server) {
  ClusterAccess access;
  access.tls_settings.insecure = true;
  if (auto set = override_servers(options, access); !set) co_return fail(set.error());
  std::string agent = "holdfast-edge/" + std::string(version);
  CO_TRY(const std::unique_ptr<ApiClient> client,
         ApiClient::make(std::move(access), clock, std::move(agent)));
  client->prefer(server);
  ApiRequest request{.target = std::string(cluster_info)};
  CO_TRY(const std::string document, co_await client->call(std::move(request), deadline));
  CO_TRY(std::string pem, pinned_authority(document, options.ca_hash));
  co_return pem;
}

}  // namespace holdfast::agent
