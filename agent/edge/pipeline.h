// The way of a local client's request through the agent: it is parsed once, answered by one of the
// rooms below, filtered once, and presented once.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/admin/hub_metrics.h"
#include "agent/edge/answers/document_handler.h"
#include "agent/edge/answers/presentation.h"
#include "agent/edge/answers/read_handler.h"
#include "agent/edge/cache/housekeeping.h"
#include "agent/edge/filters/answer_filters.h"
#include "agent/edge/forward/forwarder.h"
#include "agent/edge/offline/write_handler.h"
#include "agent/edge/options/options.h"

namespace holdfast::agent {

class Pipeline {
 public:
  // The dependencies that a pipeline uses and does not own. All of them must outlive it.
  struct Dependencies {
    const EdgeOptions& options;
    Scopes& scopes;
    ScopeContent& content;
    StoredAnswers& answers;
    LocalVersions& versions;
    Uplink& uplink;
    ScopeReflectors& reflectors;
    AnswerFilters& filters;
    OfflineStore& offline_store;
    NodeLease& lease;
    Registration& registration;
    Housekeeping& housekeeping;
    HubMetrics& metrics;
    const Clock& clock;
    Random& random;
  };
  explicit Pipeline(const Dependencies& dependencies);

  // Answers the request of an identified caller; 401 for one that was not identified. With
  // `hides_authorization`, the Authorization header is not for the API server.
  asio::awaitable<http::Response> serve(const http::Request& request, Result<Caller> caller,
                                        bool hides_authorization);

  // See WriteHandler::reapply_outbox().
  [[nodiscard]] Status reapply_outbox() { return writes_.reapply_outbox(); }

 private:
  // Narrows `inner_accept` to what filters and tables can be applied to. Returns 406 if the client
  // accepts nothing of that.
  [[nodiscard]] std::optional<http::Response> narrow(RoutedRequest& request,
                                                     const FilterRequest& call);

  Dependencies dependencies_;
  Forwarder forwarder_;
  AnswerCache answer_cache_;
  DocumentHandler documents_;
  ReadHandler reads_;
  WriteHandler writes_;
  Presentation presentation_;
};

}  // namespace holdfast::agent
