// Answers reads of documents that describe the API, such as discovery: from the API server while it
// is reachable, otherwise as they were last received.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/answer_cache.h"
#include "agent/edge/forward/forwarder.h"
#include "agent/edge/route/answer.h"
#include "agent/edge/route/deadlines.h"

namespace holdfast::agent {

class DocumentHandler {
 public:
  DocumentHandler(const Deadlines& deadlines, Uplink& uplink, Forwarder& forwarder,
                  AnswerCache& answer_cache)
      : deadlines_(deadlines),
        uplink_(uplink),
        forwarder_(forwarder),
        answer_cache_(answer_cache) {}

  // Never answers 404 unless the API server did. 503 for a document that was never fetched.
  asio::awaitable<RoutedAnswer> serve(const RoutedRequest& request);

 private:
  const Deadlines deadlines_;
  Uplink& uplink_;
  Forwarder& forwarder_;
  AnswerCache& answer_cache_;
};

}  // namespace holdfast::agent
