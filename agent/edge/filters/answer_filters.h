// Shows local clients what OpenYurt's filters make of an answer, whoever gave it.
//
// The cache keeps what the server sent; only answers are filtered. What the filters must know
// (services, this node's pool, the pool's nodes) and the ConfigMap with more settings are scopes of
// the agent's own, opened when they are first needed. While something is not known that decides,
// nothing is shown: a request waits and is then refused with 503, a watch holds its next event.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/edge/options.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "platform/http/message.h"
#include "sync/api/request_info.h"
#include "sync/filters/assignment.h"
#include "sync/filters/watch_filter.h"

namespace holdfast::agent {

using ViewPtr = std::shared_ptr<const sync::filters::FilterView>;

// One request, as far as filters are concerned.
struct FilterCall {
  std::string component;  // lower case: "kube-proxy"
  std::string verb;
  std::string group;
  std::string resource;
  bool streamed = false;    // its watch is filtered where it was made
  bool from_cache = false;  // the answer was made here, of objects
};

class AnswerFilters {
 public:
  AnswerFilters(asio::any_io_executor executor, const EdgeOptions& options, Scopes& scopes,
                Uplink& uplink, const Clock& clock);

  // Opens the ConfigMap's scope. A cache without room for it is logged.
  void start();
  // Follows what the agent's own scopes bring; a task that runs until it is cancelled.
  asio::awaitable<void> keep_up();

  // From now on pods are told the address that address_for_pods() names: it is listened on.
  void use_pods_address();

  // Whether the ConfigMap has this component cached.
  [[nodiscard]] bool caches(const std::string& component);

  // Waits for the ConfigMap, if it decides and was never looked at, no longer than a read may.
  asio::awaitable<FilterCall> call_of(const std::string& agent, const sync::RequestInfo& info);

  // Whether settings can be made that filter the call's answer.
  [[nodiscard]] bool may_concern(const FilterCall& call) const;
  // How the call's answer is to look now; null: as it is.
  [[nodiscard]] ViewPtr view(const FilterCall& call);
  // Another number whenever views may have changed, which every scope's waiters are told of.
  [[nodiscard]] std::uint64_t epoch();
  // Notified then, too.
  [[nodiscard]] loop::Event& changed() { return changed_; }

  // An answer as the client is to see it.
  asio::awaitable<http::Response> show(FilterCall& call, http::Response response);

  // Opens what is needed and waits until it is known. False at `deadline` and without the cloud.
  asio::awaitable<bool> learn(sync::filters::Need need, MonoTime deadline);
  // The same without waiting.
  void want(sync::filters::Need need);

  [[nodiscard]] const sync::filters::FilterAssignment& assignment() const { return assignment_; }
  [[nodiscard]] const sync::filters::FilterKnowledge& knowledge() const { return *knowledge_; }
  [[nodiscard]] MonoTime deadline() const { return clock_.mono() + options_.read_deadline; }

 private:
  // A scope that is read, and up to where it was.
  struct Source {
    ScopePtr scope;
    sync::WatchCache::Position seen = 0;
    bool complete = false;
    bool refused = false;

    // Whether it says something else than when this was asked last.
    [[nodiscard]] bool has_news();
  };

  void refresh();
  [[nodiscard]] bool read_config();
  void read_services(sync::filters::FilterKnowledge& knowledge);
  void read_node(sync::filters::FilterKnowledge& knowledge);
  void read_pool(sync::filters::FilterKnowledge& knowledge) const;
  void announce();
  // The same in JSON when that is what a client has fetched already.
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
  std::map<sync::filters::FilterChain, ViewPtr> views_;  // with that knowledge
  std::string config_text_;                              // as it was read last
  bool config_given_up_ = false;
  std::vector<std::string> warned_;  // of services
  Source config_;
  Source services_;
  Source node_;
  Source pool_;
};

// Where the pods of this node reach the agent: at their interface's address, or that of
// --secure-listen, unless that is one that only this machine's processes reach, or all of its
// addresses at once.
[[nodiscard]] std::optional<sync::filters::MasterAddress> address_for_pods(
    const EdgeOptions& options);

}  // namespace holdfast::agent
