#include "agent/edge/options/identity_options.h"

#include "agent/client/discovery.h"
#include "agent/client/server_list.h"
#include "agent/edge/options/pods_address.h"
#include "platform/net/transport.h"

namespace holdfast::agent {

void add_options(config::Options& options, IdentityOptions& settings) {
  options.add("kubeconfig", settings.kubeconfig,
              "kubeconfig with the address of the API server and the node's credentials");
  options.add(
      "bootstrap-kubeconfig", settings.bootstrap_kubeconfig,
      "instead: a kubeconfig with bootstrap credentials, which request the node's certificate");
  options.add(
      "join-token-file", settings.join_token_file,
      "instead: a file (mode 0600) with a bootstrap token; needs --server, and --ca-file or "
      "--discovery-token-ca-cert-hash");
  options.add(
      "join-token", settings.join_token,
      "the bootstrap token itself; every user of the machine can see it on the command line");
  options.add("server", settings.servers,
              "API servers (https://host:port), instead of those of the kubeconfig; required with "
              "--join-token-file");
  options.add("ca-file", settings.ca_file,
              "with --join-token-file: file with the cluster's certificate authority");
  options.add(
      "discovery-token-ca-cert-hash", settings.ca_hash,
      "with --join-token-file: sha256:HEX of the authority's public key; the authority is fetched "
      "from the server");
  options.add("secure-listen", settings.secure_listen,
              "address of the TLS proxy for callers with client certificates; empty: none");
  options.add("require-client-certificates", settings.require_client_certificates,
              "close connections to --secure-listen without a client certificate; false: a token "
              "is enough");
  options.add("enable-dummy-if", settings.enable_dummy_if,
              "create the dummy interface of --dummy-if-ip; false: never");
  options.add("dummy-if-ip", settings.dummy_if_ip,
              "address at which pods reach the proxy over TLS, on a dummy network interface: "
              "169.254.2.1 in OpenYurt; empty: none");
  options.add("dummy-if-name", settings.dummy_if_name, "name of that interface");
  options.add("serving-names", settings.serving_names,
              "additional names and addresses in the serving certificate");
  options.add("cache-key-file", settings.cache_key_file,
              "file with the key that encrypts Secrets and tokens in the cache: 32 bytes, raw or "
              "in base64");
}

namespace {

// Checks the options that need a join token, and those that a join token needs.
Status check_joining(const IdentityOptions& settings, const ServerList& servers) {
  const auto bad = [](std::string what) { return fail(Errc::invalid, std::move(what)); };
  if (!settings.joins()) {
    for (const auto& [flag, value] :
         {std::pair{"--ca-file", &settings.ca_file},
          std::pair{"--discovery-token-ca-cert-hash", &settings.ca_hash}}) {
      if (!value->empty()) return bad(std::string(flag) + " needs --join-token-file");
    }
    return {};
  }
  if (!settings.join_token.empty() && !settings.join_token_file.empty()) {
    return bad("--join-token and --join-token-file exclude each other");
  }
  if (settings.servers.empty()) return bad("--join-token-file needs --server");
  if (!servers.tls) return bad("--server: --join-token-file needs https:// servers");
  if (settings.ca_file.empty() == settings.ca_hash.empty()) {
    return bad("--join-token-file needs one of --ca-file and --discovery-token-ca-cert-hash");
  }
  if (settings.ca_hash.empty()) return {};
  if (auto hash = parse_ca_hash(settings.ca_hash); !hash) {
    return fail("--discovery-token-ca-cert-hash", hash.error());
  }
  // With a malformed token, the signature of the cluster-info document could not be checked.
  if (settings.join_token.empty()) return {};
  const auto token = parse_join_token(settings.join_token);
  return token ? Status() : fail("--join-token", token.error());
}

}  // namespace

Status check(const IdentityOptions& settings) {
  const auto bad = [](std::string what) { return fail(Errc::invalid, std::move(what)); };
  const int ways = static_cast<int>(!settings.kubeconfig.empty()) +
                   static_cast<int>(!settings.bootstrap_kubeconfig.empty()) +
                   static_cast<int>(settings.joins());
  if (ways == 0)
    return bad("--kubeconfig, --bootstrap-kubeconfig or --join-token-file is required");
  if (ways > 1) {
    return bad("--kubeconfig, --bootstrap-kubeconfig and --join-token-file exclude each other");
  }
  const auto servers = parse_servers(settings.servers);
  if (!servers) return fail("--server", servers.error());
  if (auto good = check_joining(settings, *servers); !good) return good;
  if (!settings.secure_listen.empty()) {
    if (auto at = net::HostPort::parse(settings.secure_listen); !at) {
      return fail("--secure-listen", at.error());
    }
  }
  return check_pods_interface(settings);
}

}  // namespace holdfast::agent
