// Answers requests that need the API server while it cannot be reached.

#pragma once

#include <string_view>

#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::agent {

class Uplink;

// 503: neither the cache nor the API server can answer; never an empty list. While the link is
// connected the answer carries Retry-After, because the missing objects may arrive soon. While it
// is not, the message says since when and why the cloud is unreachable, and there is no
// Retry-After: kubectl and client-go would repeat the request ten times before they show the
// message.
[[nodiscard]] http::Response unavailable(const Uplink& uplink, std::string_view why);

// The answer to a request that the API server did not answer: 429 if a limit of the uplink was
// reached, 504 after a timeout, else 503.
[[nodiscard]] http::Response not_reached(const Uplink& uplink, const Error& error);

}  // namespace holdfast::agent
