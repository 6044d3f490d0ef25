// Settings of the node's identity in the cluster, and of the listeners for callers over TLS.

#pragma once

#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/proxy/rules.h"
#include "platform/result.h"

namespace holdfast::agent {

struct IdentityOptions {
  // The API servers in order of preference: "https://host:port"; the scheme may be left out. Empty:
  // those of the kubeconfig. All share one authority and the same credentials.
  std::vector<std::string> servers;

  // Exactly one of these three gives the credentials:
  // A kubeconfig whose credentials another program renews.
  std::string kubeconfig;
  // A kubeconfig whose user may request a certificate for the node.
  std::string bootstrap_kubeconfig;
  // A bootstrap token, which may request a certificate. Needs `servers` and one of `ca_file` and
  // `ca_hash`. Every user of the machine can read `join_token` on the command line; the file must
  // not be readable by others.
  std::string join_token;
  std::string join_token_file;
  std::string ca_file;  // the certificate authority of the servers, with a join token
  std::string ca_hash;  // "sha256:<hex>" of the authority's public key, as in kubeadm

  // The listener for callers with certificates; "" for none. It needs a certificate authority, so
  // it is not opened with a plain http:// server.
  std::string secure_listen = "127.0.0.1:10268";
  // Connections without a client certificate are closed. If false, such callers need a token.
  bool require_client_certificates = true;
  // A dummy network interface with an address at which pods reach the agent with tokens, at the
  // port of `secure_listen`. The flags are YurtHub's. No address: no interface.
  bool enable_dummy_if = true;
  std::string dummy_if_ip;
  std::string dummy_if_name = "yurthub-dummy0";
  // Names and addresses in the serving certificate in addition to those of `secure_listen`, of the
  // interface for pods and of the node.
  std::vector<std::string> serving_names;

  // File with the key that encrypts the cache (see cache_seal.h): 32 bytes, raw or in base64. ""
  // for none.
  std::string cache_key_file;

  // The proxies that the environment selects for the API servers. Not a flag.
  proxy::Rules proxies;

  // Whether the agent requests the node's certificate and renews it.
  [[nodiscard]] bool enrols() const { return kubeconfig.empty(); }
  // Whether it does so with a join token.
  [[nodiscard]] bool joins() const { return !join_token.empty() || !join_token_file.empty(); }
};

void add_options(config::Options& options, IdentityOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const IdentityOptions& settings);

}  // namespace holdfast::agent
