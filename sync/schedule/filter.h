// Filters: may this pod run on that node, as it is or with some pods gone or come?
//
// A plugin looks at the pod and the cluster once and makes a Filter, which then judges any node.
// What a pod that joins or leaves changes for it, it counts in slots of the Trial, so that a trial
// of another set of pods costs only the pods that differ. Filters are const while they judge.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sync/schedule/cluster.h"
#include "sync/schedule/fit_status.h"

namespace holdfast::sync::schedule {

class Chain;

// One node, with some pods put in or taken out in thought. Borrows the chain and the node.
class Trial {
 public:
  explicit Trial(const Chain& chain);

  // The node as it is.
  void start(const NodeView& node);
  // Errors: Code::error when a filter cannot follow; the trial must be started anew then.
  [[nodiscard]] FitStatus add(const PodView& pod) { return change(pod, 1); }
  [[nodiscard]] FitStatus remove(const PodView& pod) { return change(pod, -1); }

  [[nodiscard]] const NodeView& node() const { return *node_; }
  [[nodiscard]] const Resources& requested() const { return requested_; }
  [[nodiscard]] std::int64_t pods() const { return pods_; }
  // How often the filters were run on it.
  [[nodiscard]] std::size_t runs() const { return runs_; }

 private:
  friend class Chain;
  [[nodiscard]] FitStatus change(const PodView& pod, int by);

  const Chain& chain_;
  const NodeView* node_ = nullptr;
  Resources requested_;
  std::int64_t pods_ = 0;
  std::vector<int> slots_;
  mutable std::size_t runs_ = 0;
};

class Filter {
 public:
  explicit Filter(std::string_view plugin) : plugin_(plugin) {}
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  virtual ~Filter() = default;

  // How many slots of a trial it needs; all are 0 at its start.
  [[nodiscard]] virtual std::size_t slots() const { return 0; }
  [[nodiscard]] virtual FitStatus check(const Trial& trial, std::span<const int> slots) const = 0;
  // Whether check() is ok; for those that say so faster than why not.
  [[nodiscard]] virtual bool passes(const Trial& trial, std::span<const int> slots) const {
    return check(trial, slots).ok();
  }
  // Whether it wants to hear of pods that join or leave.
  [[nodiscard]] virtual bool follows() const { return slots() > 0; }
  // `pod` joins (1) or leaves (-1) `node`.
  [[nodiscard]] virtual FitStatus change(const NodeView& node, const PodView& pod, int by,
                                         std::span<int> slots) const;

  [[nodiscard]] std::string_view plugin() const { return plugin_; }

 private:
  std::string_view plugin_;
};

// What a plugin makes of a pod before any node is looked at.
struct Prepared {
  std::unique_ptr<Filter> filter;  // null: nothing to judge
  FitStatus verdict;               // not ok: no node will do
  // Only these nodes can do; sorted.
  std::optional<std::vector<std::string>> only_nodes = std::nullopt;
};

struct Plugin {
  std::string_view name;  // text that outlives everything
  std::function<Prepared(const Cluster&, const PodView&)> prepare;
};

// The filters of one attempt to schedule one pod, in order. Borrows the cluster and the pod. Once
// made it only reads: threads that have a Trial each may share it.
class Chain {
 public:
  Chain(const std::vector<Plugin>& plugins, const Cluster& cluster, const PodView& pod);

  // Whether any node can do at all. A rejection stands for every node.
  [[nodiscard]] const FitStatus& prepared() const { return prepared_; }
  // The nodes that can do, when some plugin restricts them; sorted.
  [[nodiscard]] const std::optional<std::vector<std::string>>& only_nodes() const {
    return only_nodes_;
  }
  // Who restricted them; sorted.
  [[nodiscard]] const std::vector<std::string>& restricted_by() const { return restricted_by_; }

  // Runs the filters until one does not let the pod pass.
  [[nodiscard]] FitStatus check(const Trial& trial) const;
  // Whether check() is ok.
  [[nodiscard]] bool passes(const Trial& trial) const;
  // First with the pods that are nominated to the node and not less important, then without: the
  // pod must fit both ways. `nominated` may hold others; they are passed over.
  [[nodiscard]] FitStatus check_twice(Trial& trial, std::span<const PodRef> nominated) const;
  // Whether check_twice() is ok.
  [[nodiscard]] bool passes_twice(Trial& trial, std::span<const PodRef> nominated) const;

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const PodView& pod() const { return pod_; }

 private:
  friend class Trial;
  struct Link {
    std::unique_ptr<Filter> filter;
    std::size_t first_slot;
    std::size_t slots;

    template <class T>
    [[nodiscard]] std::span<T> own(std::span<T> all) const {
      return all.subspan(first_slot, slots);
    }
  };

  void restrict_to(std::vector<std::string> names, std::string_view plugin);
  [[nodiscard]] FitStatus change(const NodeView& node, const PodView& pod, int by,
                                 std::vector<int>& slots) const;

  const Cluster& cluster_;
  const PodView& pod_;
  std::vector<Link> links_;
  std::vector<const Link*> followers_;
  std::size_t slots_ = 0;
  FitStatus prepared_;
  std::optional<std::vector<std::string>> only_nodes_;
  std::vector<std::string> restricted_by_;
};

}  // namespace holdfast::sync::schedule
