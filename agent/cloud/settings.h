// The flags of holdfast-cloud. Flags that kube-controller-manager or kube-scheduler has, too, have
// the same names and defaults.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/client/limited_client.h"
#include "agent/cloud/endpoints.h"
#include "agent/cloud/leader.h"
#include "agent/cloud/scheduler/scheduler_plan.h"
#include "platform/config/options.h"
#include "platform/proxy/rules.h"
#include "platform/result.h"
#include "sync/lifecycle/controller.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent {

struct CloudSettings {
  std::string kubeconfig;
  std::string context;
  std::string log_level = "info";
  std::string kube_api_content_type = "application/vnd.kubernetes.protobuf";
  RequestLimits requests;
  LeaderSettings leader;
  EndpointSettings endpoints;
  SchedulerSettings scheduler;

  Duration node_monitor_period = std::chrono::seconds(5);
  Duration node_monitor_grace_period = std::chrono::seconds(50);
  Duration node_startup_grace_period = std::chrono::seconds(60);
  Duration node_lease_duration = std::chrono::seconds(40);  // kubelet's nodeLeaseDurationSeconds
  Duration pod_eviction_timeout = std::chrono::minutes(5);
  bool enable_taint_manager = true;
  double node_eviction_rate = 0.1;
  double secondary_node_eviction_rate = 0.01;
  int large_cluster_size_threshold = 50;
  double unhealthy_zone_threshold = 0.55;
  std::string autonomy_mode = "withhold";
  std::string eviction_mode = "delete";
  bool eviction_timers_outlive_taints = false;
  bool eviction_timers_outlive_endless_tolerations = false;
  bool evicted_names_linger = false;
  Duration eviction_deadline = std::chrono::minutes(10);
  std::string node_exists_url;
  std::vector<std::string> controllers = {"*"};
  std::vector<std::string> feature_gates;
  int concurrent_node_updates = 32;
  std::int64_t heap_max = 88 << 20;         // bytes
  std::vector<std::string> without_effect;  // flags of kube-controller-manager that were given
  proxy::Rules proxies;                     // of the environment; not a flag
};

void add_options(config::Options& options, CloudSettings& settings);

// The options of each controller, derived from the checked flags.
struct CloudPlan {
  sync::lifecycle::Options rules;
  sync::lifecycle::EnabledControllers enabled;
  std::optional<SchedulerPlan> scheduler;  // nothing: the scheduler is disabled
  LeaderSettings scheduler_leader;         // with the name of its Lease
  std::vector<std::string> warnings;       // about settings that have no effect

  // Whether any of the lifecycle controllers runs.
  [[nodiscard]] bool lifecycle() const {
    return enabled.node_lifecycle || enabled.taint_eviction || enabled.pod_binding;
  }
};

// Checks the settings and derives the plan. Errors: invalid, naming the flag that is out of range
// or contradicts another one; those of scheduler_plan_of().
[[nodiscard]] Result<CloudPlan> plan_of(const CloudSettings& settings);

}  // namespace holdfast::agent
