// Answers TokenRequests: by the API server while it is reachable, otherwise with the token that it
// gave for the same request, as long as that is valid. The agent never asks for a token by itself.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/answer_cache.h"
#include "agent/edge/forward/forwarder.h"
#include "agent/edge/options/options.h"

namespace holdfast::agent {

class TokenHandler {
 public:
  TokenHandler(const EdgeOptions& options, Uplink& uplink, Forwarder& forwarder,
               AnswerCache& answer_cache, const Clock& clock)
      : options_(options),
        uplink_(uplink),
        forwarder_(forwarder),
        answer_cache_(answer_cache),
        clock_(clock) {}

  asio::awaitable<http::Response> serve(const RoutedRequest& request);

 private:
  const EdgeOptions& options_;
  Uplink& uplink_;
  Forwarder& forwarder_;
  AnswerCache& answer_cache_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
