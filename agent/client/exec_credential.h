// The protocol between a client and its exec credential plug-in (client.authentication.k8s.io): how
// a kubeconfig configures one, and what it prints. Pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::agent {

struct ExecConfig {
  std::string api_version;        // "client.authentication.k8s.io/v1" or ".../v1beta1"
  std::string command;            // looked up in the PATH unless it has a '/'
  std::vector<std::string> args;  // may contain secrets
  std::vector<std::string> env;   // "NAME=value", besides our own environment; may contain secrets
  std::string install_hint;       // for people, if the command is missing
  std::string info;               // the value of KUBERNETES_EXEC_INFO

  bool operator==(const ExecConfig&) const = default;
};

// What a plug-in is told about the cluster with provideClusterInfo.
struct ExecCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure = false;
  std::string ca_pem;
  std::string proxy_url;
  bool disable_compression = false;
};

// Whether plug-ins of this apiVersion are supported.
[[nodiscard]] bool is_exec_version(std::string_view api_version);

// The value of KUBERNETES_EXEC_INFO; `cluster` is null without provideClusterInfo.
[[nodiscard]] std::string exec_info(std::string_view api_version, const ExecCluster* cluster);

struct ExecCredential {
  std::string token;              // "": none
  tls::Identity identity;         // empty: none
  std::optional<WallTime> until;  // nothing: until the API server refuses it
};

// Reads what a plug-in printed. Errors: invalid; the output is not quoted, because it is secret.
[[nodiscard]] Result<ExecCredential> parse_exec_credential(std::string_view output,
                                                           std::string_view api_version);

}  // namespace holdfast::agent
