// Answers reads of resources: from the cloud while it is reachable and the newest state is
// requested, otherwise from the cache. An unknown list is answered with 503, never as an empty
// list.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/answers/list_pages.h"
#include "agent/edge/answers/watch_stream.h"
#include "agent/edge/cache/answer_cache.h"
#include "agent/edge/cache/local_versions.h"
#include "agent/edge/cache/scopes.h"
#include "agent/edge/filters/filtered_watch.h"
#include "agent/edge/forward/forwarder.h"
#include "agent/edge/route/answer.h"
#include "agent/edge/route/deadlines.h"
#include "platform/random.h"
#include "sync/autonomy/read_source.h"

namespace holdfast::agent {

class ReadHandler {
 public:
  struct Settings {
    Deadlines deadlines;
    Duration bookmark_interval;  // of watches without events
  };
  ReadHandler(const Settings& settings, ScopeTable& scopes, ScopeContent& content,
              LocalVersions& versions, ScopeReflectors& reflectors, Uplink& uplink,
              Forwarder& forwarder, AnswerCache& answer_cache, AnswerFilters& filters,
              const Clock& clock, Random& random);

  // Answers a get, list or watch (HandlerKind::read). `call` is the request as the filters see it;
  // they are applied to the events of a watch here, and to other answers by the caller.
  asio::awaitable<RoutedAnswer> serve(const RoutedRequest& request, const FilterRequest& call);

 private:
  // Asks the cloud, or waits until the cache can answer, as sync::autonomy::source_of() decides.
  // Returns nothing if the cache should answer.
  asio::awaitable<std::optional<http::Response>> from_cloud(CacheQuery& query);
  void find_scope(CacheQuery& query);
  // What decides now who answers.
  [[nodiscard]] sync::autonomy::ReadFacts facts_of(const CacheQuery& query, bool has_waited) const;
  // Asks the cloud. Returns nothing if it does not answer in time.
  asio::awaitable<std::optional<http::Response>> ask_cloud(CacheQuery& query, bool before_cache);
  // Waits for a short while until the scope is complete, or will not become so for now.
  asio::awaitable<void> wait_until_complete(ScopePtr scope);
  [[nodiscard]] std::optional<http::Response> last_resort(CacheQuery& query);
  // For a watch that begins with the newest state, or with one that the cache has not seen yet:
  // lists the scope first, if that is possible.
  asio::awaitable<void> make_current(const CacheQuery& query);
  // Why the cache must not answer: the options are refused, or it does not have the state that is
  // asked for.
  [[nodiscard]] std::optional<http::Response> refusal_of(const CacheQuery& query) const;
  [[nodiscard]] std::optional<sync::wire::ApiStatus> missing_state(const CacheQuery& query) const;
  [[nodiscard]] http::Response list_from(const CacheQuery& query);
  [[nodiscard]] http::Response get_from(const CacheQuery& query) const;
  asio::awaitable<RoutedAnswer> serve_watch(const CacheQuery& query, const FilterRequest& call);
  [[nodiscard]] WatchRequest watch_request(const CacheQuery& query) const;
  [[nodiscard]] static http::Response watch_answer(const CacheQuery& query,
                                                   std::shared_ptr<http::BodyStream> stream);
  [[nodiscard]] http::Response watch_from(const CacheQuery& query, const WatchRequest& watch) const;

  const Settings settings_;
  ScopeTable& scopes_;
  ScopeContent& content_;
  LocalVersions& versions_;
  ScopeReflectors& reflectors_;
  Uplink& uplink_;
  Forwarder& forwarder_;
  AnswerCache& answer_cache_;
  AnswerFilters& filters_;
  const Clock& clock_;
  Random& random_;
  ListPages pages_;
};

}  // namespace holdfast::agent
