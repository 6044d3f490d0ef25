// Checks by which name a client addressed a plain listener. This protects services that trust their
// callers by address: a web page that rebinds its own DNS name to this machine sends that name.

#pragma once

#include <string>
#include <vector>

#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::http {

// Checks the Host header of a request: the address that the caller connected to, "localhost" on
// loopback, or one of `names`; a port must match. Errors: invalid.
[[nodiscard]] Status check_host(const Request& request, const std::vector<std::string>& names);

}  // namespace holdfast::http
