#include "agent/edge/identity/cluster.h"

#include "agent/client/api_client.h"
#include "agent/client/discovery.h"
#include "platform/fs/ownership.h"
#include "platform/text.h"
#include "platform/tls/certificate.h"
#include "platform/version.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t ca_file_limit = 1 << 20;
constexpr std::size_t token_file_limit = 4096;
constexpr std::string_view cluster_info = "/api/v1/namespaces/kube-public/configmaps/cluster-info";

Result<ClusterAccess> access_by_token(const IdentityOptions& options) {
  ClusterAccess access;
  access.environment = options.proxies;
  if (auto set = override_servers(options, access); !set) return fail(set.error());
  TRY(access.token, join_token(options));
  if (options.ca_file.empty()) return access;
  TRY(access.tls_settings.ca_pem, fs::read_all(options.ca_file, ca_file_limit));
  if (auto read = tls::read_certificate(access.tls_settings.ca_pem); !read) {
    return fail("--ca-file: " + options.ca_file, read.error());
  }
  return access;
}

}  // namespace

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

Result<std::string> join_token(const IdentityOptions& options) {
  if (options.join_token_file.empty()) return options.join_token;
  auto content = fs::read_secret(options.join_token_file, token_file_limit);
  if (!content) return fail("--join-token-file", content.error());
  const std::string_view token = trim(*content);
  if (!token.empty()) return std::string(token);
  return fail(Errc::invalid, "--join-token-file: " + options.join_token_file + " is empty");
}

Result<ClusterAccess> read_access(const IdentityOptions& options) {
  if (options.joins()) return access_by_token(options);
  TRY(ClusterAccess access,
      read_kubeconfig(options.enrols() ? options.bootstrap_kubeconfig : options.kubeconfig));
  access.environment = options.proxies;
  if (auto set = override_servers(options, access); !set) return fail(set.error());
  return access;
}

asio::awaitable<Result<std::string>> learn_authority(const IdentityOptions& options,
                                                     const Clock& clock, MonoTime deadline,
                                                     std::size_t server) {
  ClusterAccess access;
  // The server cannot be authenticated yet; the signature and the hash authenticate the document.
  access.tls_settings.insecure = true;
  access.environment = options.proxies;
  if (auto set = override_servers(options, access); !set) co_return fail(set.error());
  std::string agent = "holdfast-edge/" + std::string(version);
  CO_TRY(const std::unique_ptr<ApiClient> client,
         ApiClient::make(std::move(access), clock, std::move(agent)));
  client->prefer(server);
  ApiRequest request{.target = std::string(cluster_info)};
  CO_TRY(const std::string document, co_await client->call(std::move(request), deadline));
  CO_TRY(const std::string text, join_token(options));
  CO_TRY(const JoinToken token, parse_join_token(text));
  if (auto good = check_signature(document, token); !good) co_return fail(good.error());
  co_return pinned_authority(document, options.ca_hash);
}

}  // namespace holdfast::agent
