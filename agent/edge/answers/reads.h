// Answers local reads: from the cloud while it is reachable and the newest state is requested,
// otherwise from the cache. An unknown list is answered with 503, never as an empty list.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/answers/list_pages.h"
#include "agent/edge/answers/people.h"
#include "agent/edge/cache/feeders.h"
#include "agent/edge/cache/scopes.h"
#include "agent/edge/filters/shown_watch.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/options/options.h"
#include "agent/edge/route/caller.h"
#include "platform/random.h"
#include "sync/api/request_info.h"

namespace holdfast::agent {

class Reads {
 public:
  Reads(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, Feeders& feeders,
        AnswerFilters& filters, const Clock& clock, Random& random);

  // Answers a get, list or watch of a resource, or a request for anything else: documents that
  // describe the API (/version, discovery) are kept for every caller, other paths are forwarded.
  // The answer is filtered for the caller.
  asio::awaitable<http::Response> serve(const http::Request& request, const sync::RequestInfo& info,
                                        const Caller& caller);

  // Forwards a request and returns the cloud's answer. If there is none: 410 for a local
  // resourceVersion, which the API server does not know, otherwise 429, 503 or 504. `limit` is for
  // all tries.
  asio::awaitable<http::Response> pass_through(const http::Request& request, Duration limit);
  // Forwards a request that the API server passes on to a kubelet or a pod (exec, logs). Such a
  // request may take long, its timeout is no evidence against the link, and its answer is streamed.
  // Returns 503 at once while the cloud is unreachable.
  asio::awaitable<http::Response> dial(const http::Request& request);

  // The cloud has answered a caller's write with `response`. If the written object is cached in a
  // scope that is fed by GET, and so would not see the change, the scope takes over the answer or
  // gets the object again. A watched scope of this one object takes over a creation.
  void note_written(const sync::RequestInfo& info, const Caller& caller,
                    const http::Response& response);

  // Whether answers may be cached for this caller: the node, or one that the API server has
  // accepted.
  [[nodiscard]] bool may_cache(const Caller& caller) const;

 private:
  struct Question;
  asio::awaitable<http::Response> serve_filtered(const http::Request& request,
                                                 const sync::RequestInfo& info,
                                                 const Caller& caller, FilterCall& call);
  asio::awaitable<http::Response> serve_seen(const http::Request& request,
                                             const sync::RequestInfo& info, const Caller& caller,
                                             FilterCall& call);
  asio::awaitable<http::Response> serve_document(const http::Request& request, const Caller& caller,
                                                 FilterCall& call);
  asio::awaitable<http::Response> serve_resource(const http::Request& request, Question question);
  void find_scope(Question& question);
  ScopePtr open_scope(const store::ScopeKey& key);
  // Asks the cloud if it should answer. Returns nothing if the cache should answer instead.
  asio::awaitable<std::optional<http::Response>> ask_cloud(const http::Request& request,
                                                           Question& question);
  void keep_answer(Question& question, const http::Response& response);
  void keep_object(const Question& question, const http::Response& response);
  [[nodiscard]] static bool only_the_cloud_knows(const Question& question);
  [[nodiscard]] static bool is_before_the_cache(const Question& question);
  asio::awaitable<bool> wait_until_complete(ScopePtr scope);
  asio::awaitable<http::Response> from_cache(Question question);
  [[nodiscard]] static http::Response answer(sync::Encoding encoding, std::string body);
  [[nodiscard]] http::Response list_from(const Question& question);
  [[nodiscard]] static http::Response page_answer(const Question& question,
                                                  const sync::ListPage& page);
  [[nodiscard]] http::Response get_from(const Question& question) const;
  asio::awaitable<http::Response> watch_from(Question question);
  asio::awaitable<Result<std::shared_ptr<ShownWatch>>> follow(ScopePtr scope, FilterCall call,
                                                              std::optional<sync::Version> from);

  const EdgeOptions& options_;
  Scopes& scopes_;
  Uplink& uplink_;
  Feeders& feeders_;
  AnswerFilters& filters_;
  const Clock& clock_;
  Random& random_;
  ListPages pages_;
  People people_;
};

}  // namespace holdfast::agent
