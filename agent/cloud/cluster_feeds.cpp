#include "agent/cloud/cluster_feeds.h"

#include <algorithm>

namespace holdfast::agent {

ClusterFeeds::ClusterFeeds(ListWatchSource& source, CloudMemory& memory, const Clock& clock,
                           Random& random, Hooks hooks, Encoding encoding)
    : source_(source), memory_(memory), clock_(clock), random_(random), hooks_(std::move(hooks)) {
  open<sync::Node>("nodes", "/api/v1/nodes", encoding.whole);
  open<sync::Pod>("pods", "/api/v1/pods", encoding.whole);
  open<sync::Lease>("leases", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
  open<sync::DaemonSet>("daemonsets", "/apis/apps/v1/daemonsets");
  open<sync::Namespace>("namespaces", "/api/v1/namespaces");
  open<sync::PodDisruptionBudget>("poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets");
  open<sync::PersistentVolumeClaim>("persistentvolumeclaims", "/api/v1/persistentvolumeclaims");
  open<sync::PersistentVolume>("persistentvolumes", "/api/v1/persistentvolumes");
  open<sync::StorageClass>("storageclasses", "/apis/storage.k8s.io/v1/storageclasses");
  open<sync::CsiNode>("csinodes", "/apis/storage.k8s.io/v1/csinodes");
  const bool protobuf = encoding.protobuf;
  std::get<OfKind<sync::Node>>(kinds_).asks_protobuf = protobuf && !encoding.whole;
  std::get<OfKind<sync::Pod>>(kinds_).asks_protobuf = protobuf && !encoding.whole;
  std::get<OfKind<sync::Lease>>(kinds_).asks_protobuf = protobuf;
  std::get<OfKind<sync::DaemonSet>>(kinds_).asks_protobuf = protobuf;
  // A renewal that is seen a tenth of a second late is seen well before any grace has passed.
  std::get<OfKind<sync::Lease>>(kinds_).gather = std::chrono::milliseconds(100);
}

template <class T>
void ClusterFeeds::open(std::string_view name, std::string_view path, bool whole) {
  auto& kind = std::get<OfKind<T>>(kinds_);
  kind.name = name;
  kind.path = path;
  kind.feed = std::make_unique<Feed<T>>(
      [&kind](const T& object) {
        for (const auto& set : kind.set) set(object);
      },
      [&kind](const Name& gone) {
        for (const auto& remove : kind.remove) remove(gone);
      },
      hooks_.heard, [this] { hooks_.skipped(T::kind); }, whole);
  kind.feed->limit_memory(memory_, hooks_.refused);
  kind.feed->measure(clock_);
}

void ClusterFeeds::start(loop::Tasks& tasks) {
  start_kind<sync::Node>(tasks);
  start_kind<sync::Pod>(tasks);
  start_kind<sync::Lease>(tasks);
  start_kind<sync::DaemonSet>(tasks);
  start_kind<sync::Namespace>(tasks);
  start_kind<sync::PodDisruptionBudget>(tasks);
  start_kind<sync::PersistentVolumeClaim>(tasks);
  start_kind<sync::PersistentVolume>(tasks);
  start_kind<sync::StorageClass>(tasks);
  start_kind<sync::CsiNode>(tasks);
}

template <class T>
void ClusterFeeds::start_kind(loop::Tasks& tasks) {
  auto& kind = std::get<OfKind<T>>(kinds_);
  if (kind.set.empty()) return;
  std::string name = "watch ";
  name += kind.path;
  ListWatchTarget target{.path = std::string(kind.path), .ask_protobuf = kind.asks_protobuf};
  target.gather = kind.gather;
  memory_.limit(target);
  tasks.spawn(std::move(name),
              run_list_watch(std::move(target), source_, *kind.feed, clock_, random_));
}

Status ClusterFeeds::Subscription::complete() const {
  std::string missing;
  for (const Kind& kind : kinds_) {
    if (kind.complete()) continue;
    missing.append(" ").append(kind.name);
    if (!kind.failure().empty()) missing.append(" (").append(kind.failure()).append(")");
  }
  if (missing.empty()) return {};
  return fail(Errc::unavailable, "never received in full:" + missing);
}

Status ClusterFeeds::Subscription::progress(MonoTime now) const {
  std::string silent;
  for (const Kind& kind : kinds_) {
    if (!kind.complete() || now - kind.progressed_at() <= silence_max) continue;
    silent.append(" ").append(kind.name);
  }
  if (silent.empty()) return {};
  return fail(Errc::unavailable,
              "no news for more than " + format_duration(silence_max) + ":" + silent);
}

bool ClusterFeeds::Subscription::settled() const {
  return std::all_of(kinds_.begin(), kinds_.end(),
                     [](const Kind& kind) { return kind.complete() || !kind.failure().empty(); });
}

Status ClusterFeeds::Subscription::current(MonoTime now) const {
  if (auto whole = complete(); !whole) return whole;
  for (const Kind& kind : kinds_) {
    if (kind.out_of_memory()) {
      return fail(Errc::exhausted, "the memory limit excludes " + std::string(kind.name));
    }
    if (!kind.failure().empty()) {
      return fail(Errc::unavailable,
                  "cannot list " + std::string(kind.name) + ": " + std::string(kind.failure()));
    }
  }
  return progress(now);
}

bool ClusterFeeds::Subscription::out_of_memory() const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [](const Kind& kind) { return kind.out_of_memory(); });
}

}  // namespace holdfast::agent
