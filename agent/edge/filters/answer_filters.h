// Applies OpenYurt's filters to the answers that local clients get, both those from the cache and
// those from the API server.
//
// The cache keeps objects as the server sent them; only answers are filtered. What the filters must
// know (services, this node's pool, the pool's nodes) and the ConfigMap with further settings are
// cached in scopes of the agent's own, which are opened when first needed. An answer that depends
// on something not known yet is not sent: a request waits and then gets 503, a watch holds its next
// event.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/edge/cache/cached_list.h"
#include "agent/edge/cache/scopes.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/options/options.h"
#include "platform/http/message.h"
#include "sync/filters/assignment.h"
#include "sync/filters/watch_filter.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {

using ViewPtr = std::shared_ptr<const sync::filters::FilterView>;

// What the filters must know about a request.
struct FilterRequest {
  std::string component;  // lower case: "kube-proxy"
  std::string verb;
  std::string group;
  std::string resource;
};

class AnswerFilters {
 public:
  AnswerFilters(asio::any_io_executor executor, const EdgeOptions& options, Scopes& scopes,
                Uplink& uplink, const Clock& clock);

  // Opens the ConfigMap's scope. If the cache has no room for it, this is logged.
  void start();
  // Follows the changes of the agent's own scopes. Runs until cancelled.
  asio::awaitable<void> keep_up();

  // From now on, filters direct pods to the address that address_for_pods() returns. To be called
  // once that address is listened on.
  void use_pods_address();

  // Whether the ConfigMap lists this component as one whose reads are cached.
  [[nodiscard]] bool caches(const std::string& component);

  // Makes the FilterRequest of a request. If filters may apply and the ConfigMap was never
  // received, waits for it, at most --read-deadline.
  asio::awaitable<FilterRequest> filter_request_of(const std::string& agent,
                                                   const sync::objects::RequestInfo& info);

  // Whether any setting could make a filter apply to the call.
  [[nodiscard]] bool may_concern(const FilterRequest& call) const;
  // The filters to apply to the call's answer and their knowledge; null: the answer is not changed.
  [[nodiscard]] ViewPtr view(const FilterRequest& call);
  // A number that changes whenever views may have changed. All scopes' waiters are notified then.
  [[nodiscard]] std::uint64_t epoch();
  // Also notified then.
  [[nodiscard]] loop::Event& changed() { return changed_; }

  // Filters the answer. Waits for missing knowledge, as wait_for() does for --read-deadline, and
  // returns 503 without it.
  asio::awaitable<http::Response> filter_response(const FilterRequest& call,
                                                  http::Response response);
  // The answer if `need` did not become known in time.
  [[nodiscard]] http::Response unavailable_before(sync::filters::Need need,
                                                  std::string_view resource) const;

  // Opens the scope for `need` and waits until it is known. Stops waiting at `deadline`, or later
  // if the scope's list is_arriving() then, when the node may not read the scope, and when the
  // cloud is out of reach. Returns whether it is known.
  asio::awaitable<bool> wait_for(sync::filters::Need need, MonoTime deadline);
  // Opens the scope for `need` without waiting.
  void want(sync::filters::Need need);

  [[nodiscard]] const sync::filters::FilterAssignment& assignment() const { return assignment_; }
  [[nodiscard]] const sync::filters::FilterKnowledge& knowledge() const { return *knowledge_; }
  // Until when a request that begins now may wait.
  [[nodiscard]] MonoTime deadline() const { return clock_.mono() + options_.read_deadline; }

 private:
  // One of the agent's own scopes, and the state in which it was last read.
  struct Source {
    ScopePtr scope;
    sync::watch::WatchCache::Position seen = 0;
    bool complete = false;
    bool refused = false;

    // Whether it has changed since the last call.
    [[nodiscard]] bool has_news();
  };

  // The items of a list as a client may see them; of what is missing, only `need` is set.
  struct ShownItems {
    std::vector<sync::watch::Body> items;
    std::optional<sync::filters::Need> need;
  };
  asio::awaitable<Result<ShownItems>> filtered_items(ViewPtr how,
                                                     std::shared_ptr<const CachedList> list);
  // filter_response() for a large list from the cache, without joining it.
  asio::awaitable<http::Response> filter_list(const FilterRequest& call, http::Response response);

  void refresh();
  [[nodiscard]] bool read_config();
  void read_services(sync::filters::FilterKnowledge& knowledge);
  void read_node(sync::filters::FilterKnowledge& knowledge);
  void read_pool(sync::filters::FilterKnowledge& knowledge) const;
  void announce();
  // The key with JSON as encoding if a client has opened that scope already; otherwise `key`.
  [[nodiscard]] store::ScopeKey shared(store::ScopeKey key) const;
  void open(Source& source, const store::ScopeKey& key);
  [[nodiscard]] Source& source_of(sync::filters::Need need);
  [[nodiscard]] store::ScopeKey pool_key(const std::string& pool) const;
  [[nodiscard]] bool knows(sync::filters::Need need) const;
  [[nodiscard]] bool waits() const;
  asio::awaitable<void> settle();

  const EdgeOptions& options_;
  Scopes& scopes_;
  Uplink& uplink_;
  const Clock& clock_;
  loop::Event changed_;
  std::uint64_t epoch_ = 0;
  sync::filters::FilterAssignment assignment_;
  std::shared_ptr<const sync::filters::FilterKnowledge> knowledge_;
  std::map<sync::filters::FilterChain, ViewPtr> views_;  // made with `knowledge_`
  std::string config_text_;                              // the ConfigMap as last read
  bool config_given_up_ = false;
  std::vector<std::string> warned_;  // about services; logged already
  Source config_;
  Source services_;
  Source node_;
  Source pool_;
};

// The address at which the pods of this node reach the agent: that of their interface, or that of
// --secure-listen. Nothing if --secure-listen is a loopback address or all addresses.
[[nodiscard]] std::optional<sync::filters::MasterAddress> address_for_pods(
    const EdgeOptions& options);

}  // namespace holdfast::agent
