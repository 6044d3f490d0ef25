// The API servers that --server names.

#pragma once

#include <string>
#include <vector>

#include "agent/client/kubeconfig.h"

namespace holdfast::agent {

struct ServerList {
  bool tls = true;
  std::vector<ServerAddress> servers = {};
};

// Each text is "https://host:port/prefix", "host:port" or "host" (port 6443, with TLS), or, for
// labs, "http://host:port". Errors: invalid, naming the text: it is no address, occurs twice, or
// mixes servers with and without TLS.
[[nodiscard]] Result<ServerList> parse_servers(const std::vector<std::string>& texts);

}  // namespace holdfast::agent
