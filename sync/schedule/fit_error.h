// Why no node fits: the status of each node, and the message that summarises them.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync/schedule/fit_status.h"

namespace holdfast::sync::schedule {

// Statuses by NodeView::position, and one status for all nodes without their own.
class NodeFitStatuses {
 public:
  void set(std::size_t position, FitStatus fit_status);
  void set_absent(FitStatus fit_status) { absent_ = std::move(fit_status); }

  [[nodiscard]] const FitStatus& at(std::size_t position) const;
  [[nodiscard]] bool has(std::size_t position) const {
    return position < explicit_.size() && explicit_[position];
  }
  [[nodiscard]] const FitStatus& absent() const { return absent_; }
  // The number of nodes with their own status.
  [[nodiscard]] std::size_t size() const { return size_; }
  // Calls use(position, fit_status) for each of them, by position.
  template <class Use>
  void each(Use&& use) const {
    for (std::size_t i = 0; i < fit_statuses_.size(); ++i) {
      if (explicit_[i]) use(i, fit_statuses_[i]);
    }
  }

 private:
  std::vector<FitStatus> fit_statuses_;
  std::vector<bool> explicit_;
  std::size_t size_ = 0;
  FitStatus absent_{Code::unresolvable, {}};
};

struct Diagnosis {
  std::size_t nodes = 0;  // in the cluster
  NodeFitStatuses fit_statuses;
  std::string prefilter;   // the message of a plugin that rejected all nodes at once
  std::string postfilter;  // the message of the preemption
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;  // those of them that rejected with Code::pending
};

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: ..."
[[nodiscard]] std::string fit_error(const Diagnosis& diagnosis);
[[nodiscard]] std::string fit_error(std::size_t nodes, const NodeFitStatuses& fit_statuses);

}  // namespace holdfast::sync::schedule
