#include "sync/schedule/filter.h"

#include <algorithm>
#include <iterator>

#include "platform/text.h"

namespace holdfast::sync::schedule {
namespace {

// Upstream's message if the plugins' sets of nodes have no node in common.
std::string unsatisfied(const std::vector<std::string>& plugins) {
  if (plugins.size() == 1) return "node(s) didn't satisfy plugin " + plugins.front();
  return "node(s) didn't satisfy plugin(s) [" + join(plugins, " ") + "] simultaneously";
}

}  // namespace

Trial::Trial(const Chain& chain) : chain_(chain), slots_(chain.slots_, 0) {}

void Trial::start(const NodeView& node) {
  node_ = &node;
  requested_ = node.requested;
  pods_ = static_cast<std::int64_t>(node.pods.size());
  std::fill(slots_.begin(), slots_.end(), 0);
  added_.clear();
  removed_.clear();
}

FitStatus Trial::change(const PodView& pod, int by) {
  if (by > 0) {
    requested_.add(pod.requests.real);
  } else {
    requested_.subtract(pod.requests.real);
  }
  pods_ += by;
  if (pod.volumes) note_volumes(pod, by);
  return chain_.change(*node_, pod, by, slots_);
}

// A pod that was removed and is added again, or the other way round, makes no difference.
void Trial::note_volumes(const PodView& pod, int by) {
  std::vector<const PodView*>& undone = by > 0 ? removed_ : added_;
  const auto at = std::find(undone.begin(), undone.end(), &pod);
  if (at != undone.end()) {
    undone.erase(at);
  } else {
    (by > 0 ? added_ : removed_).push_back(&pod);
  }
}

FitStatus Filter::change(const NodeView&, const PodView&, int, std::span<int>) const { return {}; }

Chain::Chain(const std::vector<Plugin>& plugins, const Cluster& cluster, const PodView& pod)
    : cluster_(cluster), pod_(pod) {
  if (!pod.problem.empty()) {
    prepared_ = reject(Code::unresolvable, "parsing pod: " + pod.problem, pod.problem_plugin);
    return;
  }
  for (const Plugin& plugin : plugins) {
    Prepared made = plugin.prepare(cluster, pod);
    if (!made.fit_status.ok() && prepared_.ok()) prepared_ = made.fit_status;
    if (made.fit_status.code == Code::error) {
      prepared_ = reject(Code::error, "running PreFilter plugin \"" + std::string(plugin.name) +
                                          "\": " + made.fit_status.message());
    }
    // As upstream, an unschedulable status does not end the preparation, because a preemption
    // still needs the filters of the other plugins.
    if (!made.fit_status.ok() && made.fit_status.code != Code::unschedulable) return;
    if (made.only_nodes) restrict_to(std::move(*made.only_nodes), plugin.name);
    if (only_nodes_ && only_nodes_->empty()) {
      prepared_ = reject(Code::unresolvable, unsatisfied(restricted_by_), plugin.name);
      return;
    }
    if (!made.filter) continue;
    const std::size_t slots = made.filter->slots();
    links_.push_back({std::move(made.filter), slots_, slots});
    slots_ += slots;
  }
  for (const Link& link : links_) {
    if (link.filter->follows()) followers_.push_back(&link);
  }
}

void Chain::restrict_to(std::vector<std::string> names, std::string_view plugin) {
  restricted_by_.emplace_back(plugin);
  std::sort(restricted_by_.begin(), restricted_by_.end());
  if (!only_nodes_) {
    only_nodes_ = std::move(names);
    return;
  }
  std::vector<std::string> both;
  std::set_intersection(only_nodes_->begin(), only_nodes_->end(), names.begin(), names.end(),
                        std::back_inserter(both));
  only_nodes_ = std::move(both);
}

FitStatus Chain::change(const NodeView& node, const PodView& pod, int by,
                        std::vector<int>& slots) const {
  for (const Link* link : followers_) {
    const FitStatus fit_status = link->filter->change(node, pod, by, link->own(std::span(slots)));
    if (fit_status.ok()) continue;
    return reject(Code::error, std::string("running ") + (by > 0 ? "AddPod" : "RemovePod") +
                                   " on PreFilter plugin \"" + std::string(link->filter->plugin()) +
                                   "\": " + fit_status.message());
  }
  return {};
}

FitStatus Chain::check(const Trial& trial) const {
  ++trial.runs_;
  for (const Link& link : links_) {
    FitStatus fit_status = link.filter->check(trial, link.own(std::span(trial.slots_)));
    if (fit_status.ok()) continue;
    if (fit_status.code == Code::error) {
      return reject(Code::error, "running \"" + std::string(link.filter->plugin()) +
                                     "\" filter plugin: " + fit_status.message());
    }
    fit_status.plugin = link.filter->plugin();
    return fit_status;
  }
  return {};
}

bool Chain::passes(const Trial& trial) const {
  ++trial.runs_;
  return std::all_of(links_.begin(), links_.end(), [&trial](const Link& link) {
    return link.filter->passes(trial, link.own(std::span(trial.slots_)));
  });
}

bool Chain::passes_twice(Trial& trial, std::span<const PodRef> nominated) const {
  return nominated.empty() ? passes(trial) : check_twice(trial, nominated).ok();
}

FitStatus Chain::check_twice(Trial& trial, std::span<const PodRef> nominated) const {
  const auto counts = [this](const PodRef& other) {
    return other->priority >= pod_.priority && other->uid() != pod_.uid();
  };
  bool added = false;
  for (const PodRef& other : nominated) {
    if (!counts(other)) continue;
    added = true;
    if (FitStatus fit_status = trial.add(*other); !fit_status.ok()) return fit_status;
  }
  FitStatus fit_status = check(trial);
  if (!added) return fit_status;
  for (const PodRef& other : nominated) {
    if (!counts(other)) continue;
    if (FitStatus undone = trial.remove(*other); !undone.ok()) return undone;
  }
  return fit_status.ok() ? check(trial) : fit_status;
}

}  // namespace holdfast::sync::schedule
