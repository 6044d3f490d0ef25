// Answers local reads: from the cloud while it is there and the newest state is asked for, from the
// cache otherwise, and never with an empty list for lack of knowledge.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/caller.h"
#include "agent/edge/feeders.h"
#include "agent/edge/filters/shown_watch.h"
#include "agent/edge/list_pages.h"
#include "agent/edge/options.h"
#include "agent/edge/people.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "platform/random.h"
#include "sync/api/request_info.h"

namespace holdfast::agent {

class Reads {
 public:
  Reads(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, Feeders& feeders,
        AnswerFilters& filters, const Clock& clock, Random& random);

  // A get, list or watch of a resource, or of anything else: what describes the API (/version,
  // discovery) is kept for every caller, the rest passes through. Filtered for the caller.
  asio::awaitable<http::Response> serve(const http::Request& request, const sync::RequestInfo& info,
                                        const Caller& caller);

  // Passes a request on and gives the cloud's answer back, or 503 and 504.
  asio::awaitable<http::Response> pass_through(const http::Request& request, Duration limit);
  // The same for what the API server passes on itself, to a kubelet or a pod (exec, logs): it may
  // take its time, its silence tells nothing about the link, and its answer is not gathered first.
  // 503 at once while the cloud is out of reach.
  asio::awaitable<http::Response> dial(const http::Request& request);

  // A caller's write was stored by the cloud, and this is the answer. What is kept of the object as
  // it was got, and would not hear of the write, takes the answer over or is got again; a watched
  // scope of this one object takes over what was created.
  void note_written(const sync::RequestInfo& info, const Caller& caller,
                    const http::Response& response);

  // Whether anything may be kept for this caller: the node, or one whom the API server has
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
  // Asks the cloud, if that is to be asked; nothing: the cache is to answer.
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
