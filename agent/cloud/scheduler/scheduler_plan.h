// The scheduler's options, from its flags and its configuration file.
// The file is kube-scheduler's: kind KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1.
// Supported are extenders, percentageOfNodesToScore, parallelism, podInitialBackoffSeconds,
// podMaxBackoffSeconds, and one profile with its schedulerName and the arguments of
// DefaultPreemption, NodeResourcesFit (ignored resources) and VolumeBinding (bindTimeoutSeconds).
// Fields that flags of this program replace, such as leaderElection, are ignored with a warning.
// Any other field is an error that names it. The flag is --scheduler-config, because --config names
// the file with holdfast-cloud's own flags.

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
#include "sync/schedule/scheduler.h"

namespace holdfast::agent {

struct SchedulerSettings {
  std::string name = "holdfast-scheduler";
  std::string config;  // path; empty: no file
  Duration unschedulable_max = std::chrono::minutes(5);
  bool pressure_predicates = false;
};
void add_options(config::Options& options, SchedulerSettings& settings);

// How one extender is used and reached.
struct ExtenderPlan : sync::schedule::ExtenderConfig {
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
  Duration volumes_max = std::chrono::minutes(10);
  std::vector<ExtenderPlan> extenders;
  // Fields of the file that say what flags of this program say: "leaderElection".
  std::vector<std::string> ignored;
  int parallelism = 16;  // most threads for large dry runs; processors limit it
};

// Errors: invalid, naming the flag, or the file with its line and field; not_found or denied (the
// file, or a certificate file that it names).
[[nodiscard]] Result<SchedulerPlan> scheduler_plan_of(const SchedulerSettings& settings);

// Reads the text of such a file into `plan`. Relative paths in it start at `folder`. Errors: as
// above, without the file's name.
[[nodiscard]] Status read_scheduler_config(const std::string& text, const std::string& folder,
                                           SchedulerPlan& plan);

}  // namespace holdfast::agent
