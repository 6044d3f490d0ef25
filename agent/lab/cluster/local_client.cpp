#include "agent/lab/cluster/local_client.h"

namespace holdfast::agent::lab::cluster {

Result<std::unique_ptr<ApiClient>> local_client(std::uint16_t port, const Clock& clock,
                                                const std::string& user_agent,
                                                const std::string& token) {
  ClusterAccess access;
  access.server = {"127.0.0.1", port};
  access.token = token;
  return ApiClient::make(std::move(access), clock, user_agent);
}

}  // namespace holdfast::agent::lab::cluster
