#include "agent/edge/identity/cluster.h"

#include <yaml-cpp/yaml.h>

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
  access.tls = true;
  TRY(access.server, parse_server(options.server));
  access.token = options.join_token;
  if (options.ca_file.empty()) return access;
  TRY(access.tls_settings.ca_pem, fs::read_all(options.ca_file, ca_file_limit));
  if (auto read = tls::read_certificate(access.tls_settings.ca_pem); !read) {
    return fail("--ca-file: " + options.ca_file, read.error());
  }
  return access;
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

Result<net::HostPort> parse_server(std::string_view text) {
  constexpr std::string_view scheme = "https://";
  std::string_view rest = text;
  if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest.find('/') != std::string_view::npos) {
    return fail(Errc::invalid, "\"" + std::string(text) + "\" is not https://host:port");
  }
  const bool has_port = rest.rfind(':') != std::string_view::npos && !rest.ends_with(']');
  return net::HostPort::parse(has_port ? std::string(rest) : std::string(rest) + ":6443");
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
  return read_kubeconfig(options.enrols() ? options.bootstrap_kubeconfig : options.kubeconfig);
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
                                                     const Clock& clock, MonoTime deadline) {
  ClusterAccess access;
  access.tls = true;
  access.tls_settings.insecure = true;
  CO_TRY(access.server, parse_server(options.server));
  std::string agent = "holdfast-edge/" + std::string(version);
  CO_TRY(const std::unique_ptr<ApiClient> client,
         ApiClient::make(std::move(access), clock, std::move(agent)));
  ApiRequest request{.target = std::string(cluster_info)};
  CO_TRY(const std::string document, co_await client->call(std::move(request), deadline));
  CO_TRY(std::string pem, pinned_authority(document, options.ca_hash));
  co_return pem;
}

}  // namespace holdfast::agent
