// Settings of who the node is to the cluster, and of who may call it over TLS.

#pragma once

#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/result.h"

namespace holdfast::agent {

struct IdentityOptions {
  // Where the API servers are, in the order of preference: "https://host:port"; the scheme may be
  // left out. None: as the kubeconfig says. They share its authority and credentials.
  std::vector<std::string> servers;

  // One of three ways to the cluster:
  std::string kubeconfig;            // with credentials that somebody else looks after
  std::string bootstrap_kubeconfig;  // whose user may ask for a certificate
  std::string join_token;            // the same without a kubeconfig; needs `servers` and one of
                                     // `ca_file` and `ca_hash`. On a command line all can see it.
  std::string join_token_file;       // the same in a file that nobody else may read
  std::string ca_file;               // whom to believe that it is the server
  std::string ca_hash;               // "sha256:<hex>" of the authority's public key, as kubeadm's

  // The listener for callers with certificates; "" for none. It needs an authority, so there is
  // none with a plain http:// server either.
  std::string secure_listen = "127.0.0.1:10268";
  // Callers without a certificate are hung up on. Otherwise they need a token.
  bool require_client_certificates = true;
  // An interface of its own, with an address by which pods reach the agent at the port of
  // `secure_listen`, with tokens: YurtHub's flags. No address: none.
  bool enable_dummy_if = true;
  std::string dummy_if_ip;
  std::string dummy_if_name = "yurthub-dummy0";
  // Names and addresses in the serving certificate besides those of `secure_listen`, of the
  // interface for pods and of the node.
  std::vector<std::string> serving_names;

  // Seals Secrets and tokens in the cache: 32 bytes, raw or in base64. "" for none.
  std::string cache_key_file;

  // Whether the agent asks for the node's certificate and renews it.
  [[nodiscard]] bool enrols() const { return kubeconfig.empty(); }
  [[nodiscard]] bool joins() const { return !join_token.empty() || !join_token_file.empty(); }
};

void add_options(config::Options& options, IdentityOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const IdentityOptions& settings);

}  // namespace holdfast::agent
