// A client for a server on this machine.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/client/api_client.h"

namespace holdfast::agent::lab::cluster {

// For plain HTTP to a port of this machine, with the bearer token `token` unless it is empty.
[[nodiscard]] Result<std::unique_ptr<ApiClient>> local_client(std::uint16_t port,
                                                              const Clock& clock,
                                                              const std::string& user_agent,
                                                              const std::string& token = {});

}  // namespace holdfast::agent::lab::cluster
