// What the scheduler's flags and its configuration file come to.
//
// The file is kube-scheduler's own: kind KubeSchedulerConfiguration of
// kubescheduler.config.k8s.io/v1. Understood are its extenders, percentageOfNodesToScore,
// parallelism, podInitialBackoffSeconds, podMaxBackoffSeconds, and one profile's schedulerName and
// arguments of DefaultPreemption and NodeResourcesFit (ignored resources); everything else is
// refused by name. Its flag is --scheduler-config, as --config names the file of our own flags.

#pragma once

#include <string>
#include <vector>

#include "agent/client/kubeconfig.h"
#include "platform/config/options.h"
#include "sync/schedule/attempt.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/preemption/dry_run.h"
#include "sync/schedule/preemption/extenders.h"
#include "sync/schedule/queue/queue.h"

namespace holdfast::agent {

struct SchedulerSettings {
  std::string name = "holdfast-scheduler";
  std::string config;  // a file; empty: none
  Duration unschedulable_max = std::chrono::minutes(5);
};
void add_options(config::Options& options, SchedulerSettings& settings);

// One of `extenders`; a verb that is empty is not asked.
struct ExtenderPlan {
  sync::schedule::ExtenderSettings rules;
  std::string filter_verb;
  std::string prioritize_verb;
  std::string preempt_verb;
  std::string bind_verb;
  std::int64_t weight = 0;
  Duration timeout = std::chrono::seconds(5);
  ServerUrl server;
  tls::ClientSettings tls;
};

struct SchedulerPlan {
  std::string name;
  sync::schedule::QueueOptions queue;
  sync::schedule::AttemptOptions attempt;
  sync::schedule::PluginOptions plugins;
  sync::schedule::CandidateLimits limits;
  std::vector<ExtenderPlan> extenders;
  int parallelism = 16;  // threads for large dry runs, never more than there are processors
};

// Errors: invalid, naming the flag, or the file with its line and field; not_found or denied (the
// file, or one that it names).
[[nodiscard]] Result<SchedulerPlan> scheduler_plan_of(const SchedulerSettings& settings);

// Reads the text of such a file into `plan`; `folder` is where relative names begin.
// Errors: as above, without the file's name.
[[nodiscard]] Status read_scheduler_config(const std::string& text, const std::string& folder,
                                           SchedulerPlan& plan);

}  // namespace holdfast::agent
