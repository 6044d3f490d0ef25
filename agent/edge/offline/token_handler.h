// Answers TokenRequests: by the API server while it is reachable, otherwise with the token that it
// gave for the same request, also past the end of that token: only the API server can refuse it,
// and a pod with an old token runs while one without does not. The agent never asks for a token by
// itself.
//
// Threading: the loop's thread only.

#pragma once

#include <set>
#include <string>

#include "agent/edge/cache/answer_cache.h"
#include "agent/edge/forward/forwarder.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/route/deadlines.h"

namespace holdfast::agent {

class TokenHandler {
 public:
  TokenHandler(const Deadlines& deadlines, Uplink& uplink, Forwarder& forwarder,
               AnswerCache& answer_cache, OfflineStore& offline_store, const Clock& clock)
      : deadlines_(deadlines),
        uplink_(uplink),
        forwarder_(forwarder),
        answer_cache_(answer_cache),
        offline_store_(offline_store),
        clock_(clock) {}

  asio::awaitable<http::Response> serve(const RoutedRequest& request);

 private:
  // Writes a journal record if the stored token has ended by this node's clock: once for each token
  // until its successor arrives.
  void note_end(const RoutedRequest& request, const std::string& key, const store::Answer& stored);

  const Deadlines deadlines_;
  Uplink& uplink_;
  Forwarder& forwarder_;
  AnswerCache& answer_cache_;
  OfflineStore& offline_store_;
  const Clock& clock_;
  std::set<std::string> noted_;  // owner and key of tokens whose end was recorded
};

}  // namespace holdfast::agent
