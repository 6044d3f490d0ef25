// Filters: may a pod run on a node, as the node is or after pods were added or removed?
//
// A Plugin examines the pod and the cluster once and makes a Filter, which then checks any node. A
// Trial is one node with some pods added or removed hypothetically. What an added or removed pod
// changes for a filter is counted in the filter's slots of the Trial, so that trying another set of
// pods costs only the pods that differ. Filters do not change while they check nodes.

#pragma once

#include <algorithm>
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

// One node, with some pods added or removed hypothetically. Borrows the chain and the node.
class Trial {
 public:
  explicit Trial(const Chain& chain);

  // Begins with the node as it is.
  void start(const NodeView& node);
  // Code::error if a filter fails; then call start() before using the trial again.
  [[nodiscard]] FitStatus add(const PodView& pod) { return change(pod, 1); }
  [[nodiscard]] FitStatus remove(const PodView& pod) { return change(pod, -1); }

  [[nodiscard]] const NodeView& node() const { return *node_; }
  [[nodiscard]] const Resources& requested() const { return requested_; }
  [[nodiscard]] std::int64_t pods() const { return pods_; }
  // The pods with volumes that were added, and those of the node that were removed.
  [[nodiscard]] const std::vector<const PodView*>& added() const { return added_; }
  [[nodiscard]] const std::vector<const PodView*>& removed() const { return removed_; }
  // Calls use(pod) for each pod with volumes that is on the node in this trial.
  template <class Use>
  void each_with_volumes(Use&& use) const {
    for (const PodView* pod : node_->with_volumes) {
      if (std::find(removed_.begin(), removed_.end(), pod) == removed_.end()) use(*pod);
    }
    for (const PodView* pod : added_) use(*pod);
  }
  // How often the filters were run with this trial.
  [[nodiscard]] std::size_t runs() const { return runs_; }

 private:
  friend class Chain;
  [[nodiscard]] FitStatus change(const PodView& pod, int by);
  void note_volumes(const PodView& pod, int by);

  const Chain& chain_;
  const NodeView* node_ = nullptr;
  Resources requested_;
  std::int64_t pods_ = 0;
  std::vector<int> slots_;
  std::vector<const PodView*> added_;    // of the pods with volumes
  std::vector<const PodView*> removed_;  // likewise
  mutable std::size_t runs_ = 0;
};

class Filter {
 public:
  explicit Filter(std::string_view plugin) : plugin_(plugin) {}
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  virtual ~Filter() = default;

  // The number of slots that the filter needs in a trial. All are 0 after Trial::start().
  [[nodiscard]] virtual std::size_t slots() const { return 0; }
  [[nodiscard]] virtual FitStatus check(const Trial& trial, std::span<const int> slots) const = 0;
  // Whether check() is ok. Overridden by filters that can answer faster without the reason.
  [[nodiscard]] virtual bool passes(const Trial& trial, std::span<const int> slots) const {
    return check(trial, slots).ok();
  }
  // Whether change() must be called for pods that are added or removed.
  [[nodiscard]] virtual bool follows() const { return slots() > 0; }
  // `pod` is added to (`by` is 1) or removed from (-1) `node`.
  [[nodiscard]] virtual FitStatus change(const NodeView& node, const PodView& pod, int by,
                                         std::span<int> slots) const;

  [[nodiscard]] std::string_view plugin() const { return plugin_; }

 private:
  std::string_view plugin_;
};

// The result of a plugin for a pod, before any node is checked.
struct Prepared {
  std::unique_ptr<Filter> filter;  // null: the plugin accepts every node
  FitStatus fit_status;            // not ok: no node fits
  // Set if only these nodes can fit; sorted.
  std::optional<std::vector<std::string>> only_nodes = std::nullopt;
};

struct Plugin {
  std::string_view name;  // of static storage duration
  std::function<Prepared(const Cluster&, const PodView&)> prepare;
};

// The filters of one attempt to schedule one pod, in order. Borrows the cluster and the pod. After
// construction it is only read: threads may share it if each has its own Trial.
class Chain {
 public:
  Chain(const std::vector<Plugin>& plugins, const Cluster& cluster, const PodView& pod);

  // Whether any node can fit. A rejection holds for every node.
  [[nodiscard]] const FitStatus& prepared() const { return prepared_; }
  // The nodes that can fit, if a plugin restricts them; sorted.
  [[nodiscard]] const std::optional<std::vector<std::string>>& only_nodes() const {
    return only_nodes_;
  }
  // The plugins that restrict them; sorted.
  [[nodiscard]] const std::vector<std::string>& restricted_by() const { return restricted_by_; }

  // Runs the filters up to the first that rejects the node.
  [[nodiscard]] FitStatus check(const Trial& trial) const;
  // Whether check() is ok.
  [[nodiscard]] bool passes(const Trial& trial) const;
  // Checks twice: with the pods of `nominated` whose priority is not lower than this pod's added,
  // and without them. The pod must fit both times, because a nominated pod may or may not arrive.
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
