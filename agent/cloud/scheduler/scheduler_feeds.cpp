#include "agent/cloud/scheduler/scheduler_feeds.h"

#include <utility>

namespace holdfast::agent {
namespace {

std::function<void()> skip(const SchedulerFeeds::Hooks& hooks, std::string_view kind) {
  return [skipped = hooks.skipped, kind] { skipped(kind); };
}

}  // namespace

SchedulerFeeds::SchedulerFeeds(Scheduler& scheduler, ListWatchSource& source, CloudMemory& memory,
                               const Clock& clock, Random& random, Hooks hooks, Ways ways)
    : source_(source),
      memory_(memory),
      clock_(clock),
      random_(random),
      ways_(ways),
      nodes_([&scheduler](const auto& node) { scheduler.set(node); },
             [&scheduler](const auto& name) { scheduler.remove_node(name.second); }, hooks.heard,
             skip(hooks, sync::Node::kind), ways.whole),
      pods_([&scheduler](const auto& pod) { scheduler.set(pod); },
            [&scheduler](const auto& name) { scheduler.remove_pod(name.first, name.second); },
            hooks.heard, skip(hooks, sync::Pod::kind), ways.whole),
      namespaces_([&scheduler](const auto& space) { scheduler.set(space); },
                  [&scheduler](const auto& name) { scheduler.remove_namespace(name.second); },
                  hooks.heard, skip(hooks, sync::Namespace::kind)),
      budgets_([&scheduler](const auto& budget) { scheduler.set(budget); },
               [&scheduler](const auto& name) { scheduler.remove_budget(name.first, name.second); },
               hooks.heard, skip(hooks, sync::PodDisruptionBudget::kind)) {
  nodes_.keep_within(memory, hooks.refused);
  pods_.keep_within(memory, hooks.refused);
  namespaces_.keep_within(memory, hooks.refused);
  budgets_.keep_within(memory, hooks.refused);
}

void SchedulerFeeds::start(loop::Tasks& tasks) {
  watch(tasks, "/api/v1/nodes", nodes_, true);
  watch(tasks, "/api/v1/pods", pods_, true);
  watch(tasks, "/api/v1/namespaces", namespaces_, false);
  watch(tasks, "/apis/policy/v1/poddisruptionbudgets", budgets_, false);
}

void SchedulerFeeds::watch(loop::Tasks& tasks, std::string path, ListWatchSink& sink, bool plenty) {
  std::string name = "schedule " + path;
  ListWatchTarget target{.path = std::move(path),
                         .ask_protobuf = plenty && ways_.protobuf && !ways_.whole};
  memory_.limit(target);
  tasks.spawn(std::move(name), run_list_watch(std::move(target), source_, sink, clock_, random_));
}

Status SchedulerFeeds::complete() const {
  if (nodes_.out_of_memory() || pods_.out_of_memory() || namespaces_.out_of_memory() ||
      budgets_.out_of_memory()) {
    return fail(Errc::exhausted, "the scheduler's lists exceed --heap-max");
  }
  std::string missing;
  if (!nodes_.complete()) missing += " nodes";
  if (!pods_.complete()) missing += " pods";
  if (!namespaces_.complete()) missing += " namespaces";
  if (!budgets_.complete()) missing += " poddisruptionbudgets";
  if (missing.empty()) return {};
  return fail(Errc::unavailable, "never received in full:" + missing);
}

}  // namespace holdfast::agent
