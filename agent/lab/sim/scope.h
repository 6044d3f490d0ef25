// One list-watch of a node: the production reflector and watch cache, fed by the modelled API
// server over the node's link.

#pragma once

#include <functional>
#include <string>

#include "agent/lab/sim/kubelet_api.h"
#include "agent/lab/sim/rest.h"
#include "sync/watch/reflector.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::agent::lab::sim {

class Scope {
 public:
  // `changed` is called after each change of the cache.
  Scope(Engine& engine, NodeClient& client, std::string node, ScopeOf of, Task changed);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { stop(); }

  // Watches from `resume_from` on, or lists first if that is "", until stop(). The content stays.
  void start(std::string resume_from = "");
  void stop();
  [[nodiscard]] bool is_running() const { return reflector_ != nullptr; }
  [[nodiscard]] bool is_watching() const;

  [[nodiscard]] sync::watch::WatchCache& cache() { return cache_; }
  [[nodiscard]] const sync::watch::WatchCache& cache() const { return cache_; }
  [[nodiscard]] ScopeOf of() const { return of_; }
  // When the last complete list arrived or the watch was last opened; MonoTime::min(): never.
  [[nodiscard]] MonoTime refreshed_at() const { return refreshed_at_; }
  // Is called when a request of the scope got no answer in time.
  void on_timeout(Task task) { on_timeout_ = std::move(task); }

 private:
  void feed(sync::watch::reflect::Input input);
  void note_opened();
  void perform(const sync::watch::reflect::SendList& action);
  void perform(const sync::watch::reflect::OpenWatch& action);
  void perform(const sync::watch::reflect::CloseWatch& action);
  void perform(const sync::watch::reflect::Replace& action);
  void perform(const sync::watch::reflect::Apply& action);
  void perform(const sync::watch::reflect::Bookmark& action);
  void perform(const sync::watch::reflect::TakePage&) {}
  void perform(const sync::watch::reflect::EndList&) {}
  void perform(const sync::watch::reflect::WaitUntil&) {}
  void perform(const sync::watch::reflect::Warn&) {}
  void perform(const sync::watch::reflect::ReportStall&) {}
  void take_event(const Change& change);
  void check_order(std::uint64_t version);

  Engine& engine_;
  NodeClient& client_;
  std::string node_;
  ScopeOf of_;
  Task changed_;
  Task on_timeout_;
  sync::watch::WatchCache cache_;
  std::unique_ptr<sync::watch::Reflector> reflector_;
  Life life_;
  Link::ConnectionPtr watch_;
  Timer timer_;
  MonoTime refreshed_at_ = MonoTime::min();
};

// The pods in a cache; all of them can be read, because the API server wrote them.
[[nodiscard]] std::vector<PodPtr> pods_in(const sync::watch::WatchCache& cache);
// The Node in a cache; null if there is none.
[[nodiscard]] NodePtr node_in(const sync::watch::WatchCache& cache);
[[nodiscard]] PodPtr decode_pod(const sync::watch::CachedObject& object);

// The kubelet's informer of its pods: a list, then each change once. When its connection breaks, it
// continues at the version that it has seen, as client-go's reflector does.
class PodFeed {
 public:
  explicit PodFeed(PodSink& sink) : sink_(&sink) {}

  // Call it after each change of the cache. Does nothing until the cache is complete.
  void update(const sync::watch::WatchCache& cache);
  // The connection broke: the next update() may be of another cache.
  void disconnect() { next_.reset(); }

 private:
  PodSink* sink_;
  std::optional<sync::watch::WatchCache::Position> next_;
  std::optional<sync::objects::Version> seen_;
};

}  // namespace holdfast::agent::lab::sim
