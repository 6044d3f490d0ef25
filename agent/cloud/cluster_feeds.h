// The lists and watches of this process: each kind of object is received and decoded once, for all
// controllers that need it.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/cloud/feed.h"
#include "platform/loop/tasks.h"
#include "platform/random.h"
#include "sync/model/config.h"
#include "sync/model/storage.h"

namespace holdfast::agent {

class ClusterFeeds {
 public:
  using Name = std::pair<std::string, std::string>;  // namespace and name
  struct Hooks {
    std::function<void()> heard;    // a list or an event arrived, or a list failed
    std::function<void()> refused;  // a list exceeds the memory limit
    std::function<void(std::string_view kind)> skipped;  // an object that could not be read
  };
  struct Encoding {
    bool protobuf = false;  // the encoding of requests; otherwise JSON
    bool whole = false;     // keep unknown fields, for extenders; this requires JSON
  };

  // All parameters, and what the hooks refer to, must outlive this.
  ClusterFeeds(ListWatchSource& source, CloudMemory& memory, const Clock& clock, Random& random,
               Hooks hooks, Encoding encoding);

  // kube-apiserver sends a bookmark every minute, so a watch that is silent for so long is not one.
  static constexpr Duration silence_max = std::chrono::minutes(3);

  // The kinds that one controller needs.
  class Subscription {
   public:
    // Errors: unavailable (a list was never received completely; it is named, with the reason if
    // the last attempt failed).
    [[nodiscard]] Status complete() const;
    // Whether the watches are alive. Errors: unavailable (a feed that was complete has made no
    // progress for `silence_max`; it is named).
    [[nodiscard]] Status progress(MonoTime now) const;
    // Whether each list was received or has failed, so that complete() says what is known.
    [[nodiscard]] bool settled() const;
    // Whether all lists are complete and none has failed since. Errors: unavailable, exhausted.
    [[nodiscard]] Status current(MonoTime now) const;
    // Whether one of the lists exceeds the memory limit, so that the known state is outdated.
    [[nodiscard]] bool out_of_memory() const;

   private:
    friend class ClusterFeeds;
    struct Kind {
      std::string_view name;
      std::function<bool()> complete;
      std::function<bool()> out_of_memory;
      std::function<MonoTime()> progressed_at;
      std::function<std::string_view()> failure;
    };
    std::vector<Kind> kinds_;
  };

  // Delivers all objects of kind T from now on. Call it before start().
  template <class T>
  void subscribe(Subscription& to, std::function<void(const T&)> set,
                 std::function<void(const Name&)> remove) {
    auto& kind = std::get<OfKind<T>>(kinds_);
    kind.set.push_back(std::move(set));
    kind.remove.push_back(std::move(remove));
    const Feed<T>& feed = *kind.feed;
    to.kinds_.push_back({kind.name, [&feed] { return feed.complete(); },
                         [&feed] { return feed.out_of_memory(); },
                         [&feed] { return feed.progressed_at(); },
                         [&feed] { return std::string_view(feed.failure()); }});
  }

  // Starts the list-watches of all subscribed kinds in `tasks`.
  void start(loop::Tasks& tasks);

 private:
  template <class T>
  struct OfKind {
    std::string_view name;
    std::string_view path;
    bool asks_protobuf = false;
    Duration gather{};  // how long events may be collected before they are delivered
    std::vector<std::function<void(const T&)>> set;
    std::vector<std::function<void(const Name&)>> remove;
    std::unique_ptr<Feed<T>> feed;
  };
  using Kinds =
      std::tuple<OfKind<sync::Node>, OfKind<sync::Pod>, OfKind<sync::Lease>,
                 OfKind<sync::DaemonSet>, OfKind<sync::Namespace>,
                 OfKind<sync::PodDisruptionBudget>, OfKind<sync::PersistentVolumeClaim>,
                 OfKind<sync::PersistentVolume>, OfKind<sync::StorageClass>, OfKind<sync::CsiNode>>;

  template <class T>
  void open(std::string_view name, std::string_view path, bool whole = false);
  template <class T>
  void start_kind(loop::Tasks& tasks);

  ListWatchSource& source_;
  CloudMemory& memory_;
  const Clock& clock_;
  Random& random_;
  Hooks hooks_;
  Kinds kinds_;
};

}  // namespace holdfast::agent
