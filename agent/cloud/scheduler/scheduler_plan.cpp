#include "agent/cloud/scheduler/scheduler_plan.h"

#include <filesystem>

#include "platform/fs/file.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t file_limit = 1 << 20;

}  // namespace

void add_options(config::Options& options, SchedulerSettings& settings) {
  options.add("scheduler-name", settings.name, "schedule the pods with this spec.schedulerName");
  options.add(
      "scheduler-config", settings.config,
      "file with a KubeSchedulerConfiguration (kube-scheduler's --config): extenders, back-off, "
      "preemption");
  options.add("pod-max-in-unschedulable-pods-duration", settings.unschedulable_max,
              "time after which an unschedulable pod is tried again even if nothing has changed");
  options.add("scheduler-pressure-predicates", settings.pressure_predicates,
              "as before 1.12: nodes under memory or disk pressure get no pods, for clusters whose "
              "controller does not taint them");
}

Result<SchedulerPlan> scheduler_plan_of(const SchedulerSettings& settings) {
  SchedulerPlan plan;
  plan.name = settings.name;
  plan.queue.pool_stay_max = settings.unschedulable_max;
  plan.plugins.pressure_predicates = settings.pressure_predicates;
  if (!settings.config.empty()) {
    auto text = fs::read_all(settings.config, file_limit);
    if (!text) return fail("--scheduler-config", text.error());
    const std::string folder = std::filesystem::path(settings.config).parent_path().string();
    const Status read = read_scheduler_config(*text, folder, plan);
    if (!read) return fail("--scheduler-config: " + settings.config, read.error());
  }
  if (plan.name.empty()) return fail(Errc::invalid, "--scheduler-name must not be empty");
  if (settings.unschedulable_max <= Duration::zero()) {
    return fail(Errc::invalid, "--pod-max-in-unschedulable-pods-duration must be above zero");
  }
  return plan;
}

}  // namespace holdfast::agent
