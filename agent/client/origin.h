// Checks that an answer comes from an API server, and not from a proxy or a captive portal on the
// way to it.

#pragma once

#include <string_view>

#include "agent/client/kubeconfig.h"
#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::agent {

// Returns `outcome`, the answer to a request for `target` over `access`. An answer that no API
// server gives, such as a web page, becomes an error that says what it is, and its stream is
// cancelled. Errors: those of `outcome`; corrupt.
[[nodiscard]] Result<http::Response> check_origin(const ClusterAccess& access,
                                                  std::string_view target,
                                                  Result<http::Response> outcome);

}  // namespace holdfast::agent
