#include "agent/cloud/settings.h"

#include <cmath>
#include <map>

#include "agent/cloud/upstream_controllers.h"
#include "agent/cloud/upstream_flags.h"
#include "platform/text.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

namespace {

using Gates = std::map<std::string, bool>;

// The known feature gates and their defaults.
Gates default_gates() {
  return {{"TaintBasedEvictions", true},
          {"TaintNodesByCondition", true},
          {"NodeLease", true},
          {"NodeDisruptionExclusion", true},
          {"LegacyNodeRoleBehavior", false},
          {"PodDisruptionConditions", true},
          {"SeparateTaintEvictionController", true},
          {"NodeOutOfServiceVolumeDetach", true},
          {"TaintTolerationComparisonOperators", false}};
}

Result<Gates> read_gates(const std::vector<std::string>& texts) {
  Gates gates = default_gates();
  for (const std::string& text : texts) {
    const auto at = text.find('=');
    const std::string name = text.substr(0, at);
    const std::string value = at == std::string::npos ? "" : text.substr(at + 1);
    if (!gates.contains(name)) {
      return fail(Errc::invalid, "--feature-gates: unknown gate \"" + name + "\"");
    }
    if (value != "true" && value != "false") {
      return fail(Errc::invalid, "--feature-gates: " + name + " must be true or false");
    }
    gates[name] = value == "true";
  }
  return gates;
}

// Upstream's current and former names, and short forms.
constexpr std::string_view lifecycle_names[] = {"node-lifecycle", "node-lifecycle-controller",
                                                "nodelifecycle"};
constexpr std::string_view eviction_names[] = {"taint-eviction", "taint-eviction-controller"};
// OpenYurt's names.
constexpr std::string_view binding_names[] = {"pod-binding", "pod-binding-controller",
                                              "podbinding"};
constexpr std::string_view scheduler_names[] = {"scheduler", "kube-scheduler"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  for (const std::string_view known : names) {
    if (known == name) return true;
  }
  return false;
}

struct Chosen {
  lifecycle::EnabledControllers enabled;
  bool scheduler = false;
  std::vector<std::string> elsewhere;  // asked for, but not in this program
};

// `*` enables all lifecycle controllers that the autonomy mode needs. The scheduler must be named.
Result<Chosen> read_controllers(const std::vector<std::string>& names,
                                lifecycle::AutonomyMode mode) {
  bool all = false;
  for (const std::string& name : names) all = all || name == "*";
  Chosen chosen{.enabled = {all, all, all && mode == lifecycle::AutonomyMode::openyurt},
                .elsewhere = {}};
  lifecycle::EnabledControllers& enabled = chosen.enabled;
  for (const std::string& text : names) {
    if (text == "*") continue;
    const bool off = text.starts_with('-');
    const std::string_view name = std::string_view(text).substr(off ? 1 : 0);
    if (is_one_of(name, lifecycle_names)) {
      enabled.node_lifecycle = !off;
    } else if (is_one_of(name, eviction_names)) {
      enabled.taint_eviction = !off;
    } else if (is_one_of(name, binding_names)) {
      enabled.pod_binding = !off;
    } else if (is_one_of(name, scheduler_names)) {
      chosen.scheduler = !off;
    } else if (is_controller_elsewhere(name)) {
      if (!off) chosen.elsewhere.emplace_back(name);
    } else {
      return fail(Errc::invalid,
                  "--controllers: unknown controller \"" + text +
                      "\"; known are node-lifecycle, taint-eviction, pod-binding and scheduler");
    }
  }
  return chosen;
}

Result<lifecycle::AutonomyMode> read_mode(const std::string& text) {
  if (text == "withhold") return lifecycle::AutonomyMode::withhold;
  if (text == "openyurt") return lifecycle::AutonomyMode::openyurt;
  if (text == "openyurt-classic") return lifecycle::AutonomyMode::openyurt_classic;
  if (text == "off") return lifecycle::AutonomyMode::off;
  return fail(Errc::invalid, "--autonomy-mode: \"" + text +
                                 "\" is none of withhold, openyurt, openyurt-classic, off");
}

Result<lifecycle::EvictionMode> read_eviction_mode(const std::string& text) {
  if (text == "delete") return lifecycle::EvictionMode::remove;
  if (text == "evict") return lifecycle::EvictionMode::evict;
  return fail(Errc::invalid, "--eviction-mode: \"" + text + "\" is neither delete nor evict");
}

constexpr Duration eviction_deadline_most = std::chrono::hours(8760);

Status require(bool good, const std::string& complaint) {
  if (good) return {};
  return fail(Errc::invalid, complaint);
}

// Contradictions between several flags.
Status check_plan(const CloudPlan& plan) {
  const lifecycle::Options& rules = plan.rules;
  const lifecycle::EnabledControllers& enabled = plan.enabled;
  const bool evicts = rules.eviction_mode == lifecycle::EvictionMode::evict;
  const bool reads_annotations = rules.autonomy != lifecycle::AutonomyMode::off;
  const Status checks[] = {
      require(plan.lifecycle() || plan.scheduler, "--controllers: nothing is left to run"),
      require(!evicts || rules.taint_based_evictions,
              "--eviction-mode=evict needs evictions by taint: --enable-taint-manager=true"),
      require(!enabled.pod_binding || reads_annotations,
              "--controllers: pod-binding contradicts --autonomy-mode=off"),
      require(!rules.ask_provider || enabled.node_lifecycle,
              "--node-exists-url needs node-lifecycle in --controllers"),
  };
  for (const Status& status : checks) {
    if (!status) return fail(status.error());
  }
  return {};
}

Status check_content_type(const std::string& type) {
  const std::string json = "application/json";
  const std::string protobuf(sync::wire::protobuf_type);
  return require(
      type == json || type == protobuf,
      "--kube-api-content-type: \"" + type + "\" is neither " + protobuf + " nor " + json);
}

Status check_ranges(const CloudSettings& settings) {
  const auto positive = [](Duration value, const char* name) {
    return require(value > Duration::zero(), std::string(name) + " must be above zero");
  };
  const auto rate = [](double value, const char* name) {
    return require(std::isfinite(value) && value >= 0, std::string(name) + " must not be negative");
  };
  const Status checks[] = {
      check_content_type(settings.kube_api_content_type),
      check(settings.requests),
      check(settings.leader),
      check(settings.endpoints),
      positive(settings.node_monitor_period, "--node-monitor-period"),
      positive(settings.node_monitor_grace_period, "--node-monitor-grace-period"),
      positive(settings.node_startup_grace_period, "--node-startup-grace-period"),
      positive(settings.pod_eviction_timeout, "--pod-eviction-timeout"),
      rate(settings.node_eviction_rate, "--node-eviction-rate"),
      rate(settings.secondary_node_eviction_rate, "--secondary-node-eviction-rate"),
      require(settings.secondary_node_eviction_rate <= settings.node_eviction_rate,
              "--secondary-node-eviction-rate must not be above --node-eviction-rate"),
      require(settings.large_cluster_size_threshold >= 0,
              "--large-cluster-size-threshold must not be negative"),
      require(settings.unhealthy_zone_threshold >= 0 && settings.unhealthy_zone_threshold <= 1,
              "--unhealthy-zone-threshold must lie between 0 and 1"),
      require(settings.node_monitor_grace_period > settings.node_monitor_period,
              "--node-monitor-grace-period must be above --node-monitor-period"),
      positive(settings.node_lease_duration, "--node-lease-duration"),
      require(settings.heap_max >= 16 << 20, "--heap-max must be at least 16 MiB"),
      require(settings.concurrent_node_updates > 0, "--concurrent-node-updates must be above zero"),
      require(settings.eviction_deadline >= Duration::zero() &&
                  settings.eviction_deadline <= eviction_deadline_most,
              "--eviction-deadline must lie between 0 and 8760h"),
  };
  for (const Status& status : checks) {
    if (!status) return fail(status.error());
  }
  return {};
}

// The scheduler's Lease has the scheduler's name. If no other controller runs in this process,
// --leader-elect-resource-name applies to it.
Result<LeaderSettings> scheduler_leader(const CloudSettings& settings, const CloudPlan& plan) {
  LeaderSettings leader = settings.leader;
  leader.component = plan.scheduler->name;
  const bool given = leader.resource_name != LeaderSettings().resource_name;
  if (plan.lifecycle() || !given) leader.resource_name = plan.scheduler->name;
  if (plan.lifecycle() && leader.resource_name == settings.leader.resource_name) {
    return fail(Errc::invalid, "--scheduler-name: \"" + leader.resource_name +
                                   "\" is also the Lease of the other controllers; set another "
                                   "--leader-elect-resource-name");
  }
  return leader;
}

// A kubelet renews its Lease four times in the lease's duration. With a shorter grace period a
// single late renewal could mark a healthy node Unknown.
Status check_grace(const CloudSettings& settings, const Gates& gates) {
  if (!gates.at("NodeLease")) return {};
  return require(
      settings.node_monitor_grace_period >= settings.node_lease_duration,
      "--node-monitor-grace-period " + format_duration(settings.node_monitor_grace_period) +
          " is below --node-lease-duration " + format_duration(settings.node_lease_duration));
}

}  // namespace

void add_options(config::Options& options, CloudSettings& settings) {
  options.add("kubeconfig", settings.kubeconfig,
              "kubeconfig of the API server; empty: the service account of this pod");
  options.add("context", settings.context, "context of the kubeconfig; empty: its current one");
  options.add("log-level", settings.log_level, "debug, info, warn, error or off");
  options.add("kube-api-content-type", settings.kube_api_content_type,
              "content type that lists and watches request: application/json, or "
              "application/vnd.kubernetes.protobuf (servers without it answer in JSON)");
  add_options(options, settings.requests);
  add_options(options, settings.leader);
  add_options(options, settings.endpoints);
  options.add("node-monitor-period", settings.node_monitor_period,
              "interval between two checks of all nodes");
  options.add("node-monitor-grace-period", settings.node_monitor_grace_period,
              "time without a heartbeat after which a node is marked Unknown");
  options.add("node-startup-grace-period", settings.node_startup_grace_period,
              "the same for a node that has not posted a status yet");
  options.add(
      "node-lease-duration", settings.node_lease_duration,
      "the kubelets' nodeLeaseDurationSeconds; --node-monitor-grace-period must not be below it, "
      "or healthy nodes could be marked Unknown");
  options.add(
      "pod-eviction-timeout", settings.pod_eviction_timeout,
      "with --enable-taint-manager=false: time after which the pods of a node that is not ready "
      "are deleted");
  options.add(
      "enable-taint-manager", settings.enable_taint_manager,
      "evict pods through NoExecute taints; false: delete them after --pod-eviction-timeout. As in "
      "1.16, --feature-gates=TaintBasedEvictions=false does that only to the pods of lost nodes, "
      "and the NoExecute taints of others still evict");
  options.add("node-eviction-rate", settings.node_eviction_rate,
              "nodes per second of each zone whose pods may be evicted");
  options.add("secondary-node-eviction-rate", settings.secondary_node_eviction_rate,
              "the same, for a large zone in partial disruption");
  options.add("large-cluster-size-threshold", settings.large_cluster_size_threshold,
              "a zone with more nodes than this is large");
  options.add(
      "unhealthy-zone-threshold", settings.unhealthy_zone_threshold,
      "share of nodes that are not ready (0 to 1) from which a zone is in partial disruption");
  options.add("autonomy-mode", settings.autonomy_mode,
              "effect of OpenYurt's autonomy annotations: withhold (no evictions), openyurt (as in "
              "yurt-manager since 1.6), openyurt-classic (as in yurt-controller-manager to 1.1: no "
              "evictions while the node is not Ready), off");
  options.add("eviction-mode", settings.eviction_mode,
              "how pods are removed: delete, or evict (the eviction API, which honours disruption "
              "budgets)");
  options.add(
      "eviction-timers-outlive-taints", settings.eviction_timers_outlive_taints,
      "as upstream: a pod's timer goes on when the taint that started it is gone but another "
      "is left, which the pod may tolerate for longer");
  options.add("eviction-timers-outlive-endless-tolerations",
              settings.eviction_timers_outlive_endless_tolerations,
              "as before 1.19: a pod's timer goes on when the pod tolerates all taints for ever "
              "meanwhile");
  options.add("evicted-names-linger", settings.evicted_names_linger,
              "as before 1.33: no timer starts for a new pod with the name of an evicted one");
  options.add("eviction-deadline", settings.eviction_deadline,
              "with --eviction-mode=evict: delete a pod whose eviction was refused for this long; "
              "0: never");
  options.add(
      "node-exists-url", settings.node_exists_url,
      "URL with {name} or {providerID}, queried for nodes that are not ready: 200 the machine "
      "exists, 404 it does not and the node is deleted; empty: no query");
  options.add("controllers", settings.controllers,
              "controllers to run: *, node-lifecycle, taint-eviction, pod-binding (in * only with "
              "--autonomy-mode=openyurt), scheduler (never in *); -NAME disables one");
  add_options(options, settings.scheduler);
  options.add("feature-gates", settings.feature_gates,
              "feature gates as upstream has them: Name=true|false");
  options.add(
      "heap-max", settings.heap_max,
      "heap in bytes beyond which no more objects are accepted; this is logged, and nothing is "
      "evicted or scheduled until the objects fit");
  options.add("concurrent-node-updates", settings.concurrent_node_updates,
              "writes to the API server at one time");
  accept_upstream_flags(options, settings.without_effect);
}

Result<CloudPlan> plan_of(const CloudSettings& settings) {
  if (auto ranges = check_ranges(settings); !ranges) return fail(ranges.error());
  TRY(const Gates gates, read_gates(settings.feature_gates));
  if (auto grace = check_grace(settings, gates); !grace) return fail(grace.error());
  CloudPlan plan;
  lifecycle::Options& rules = plan.rules;
  TRY(rules.autonomy, read_mode(settings.autonomy_mode));
  TRY(rules.eviction_mode, read_eviction_mode(settings.eviction_mode));
  rules.timers_outlive_taints = settings.eviction_timers_outlive_taints;
  rules.endless_toleration_cancels = !settings.eviction_timers_outlive_endless_tolerations;
  rules.finished_evictions_linger = settings.evicted_names_linger;
  TRY(const Chosen chosen, read_controllers(settings.controllers, rules.autonomy));
  plan.enabled = chosen.enabled;
  if (!settings.enable_taint_manager) plan.enabled.taint_eviction = false;
  if (!settings.without_effect.empty()) {
    plan.warnings.push_back("flags of kube-controller-manager without effect here: " +
                            join(settings.without_effect, ", "));
  }
  if (!chosen.elsewhere.empty()) {
    plan.warnings.push_back(
        "--controllers: not in this program, kube-controller-manager runs them: " +
        join(chosen.elsewhere, ", "));
  }
  if (chosen.scheduler) {
    TRY(plan.scheduler, scheduler_plan_of(settings.scheduler));
    TRY(plan.scheduler_leader, scheduler_leader(settings, plan));
    if (!plan.scheduler->ignored.empty()) {
      plan.warnings.push_back(
          "--scheduler-config: has no effect here, flags of this program set it: " +
          join(plan.scheduler->ignored, ", "));
    }
  }
  rules.eviction_deadline = settings.eviction_deadline;
  rules.ask_provider = !settings.node_exists_url.empty();
  rules.monitor_period = settings.node_monitor_period;
  rules.monitor_grace = settings.node_monitor_grace_period;
  rules.startup_grace = settings.node_startup_grace_period;
  rules.pod_eviction_timeout = settings.pod_eviction_timeout;
  rules.eviction_rate = static_cast<float>(settings.node_eviction_rate);
  rules.secondary_eviction_rate = static_cast<float>(settings.secondary_node_eviction_rate);
  rules.large_cluster_size = static_cast<std::size_t>(settings.large_cluster_size_threshold);
  rules.unhealthy_zone_threshold = static_cast<float>(settings.unhealthy_zone_threshold);
  rules.taint_based_evictions = settings.enable_taint_manager && gates.at("TaintBasedEvictions");
  rules.taint_by_condition = gates.at("TaintNodesByCondition");
  rules.node_leases = gates.at("NodeLease");
  rules.exclude_from_disruption = gates.at("NodeDisruptionExclusion");
  rules.legacy_node_role = gates.at("LegacyNodeRoleBehavior");
  rules.disruption_condition = gates.at("PodDisruptionConditions");
  rules.out_of_service = gates.at("NodeOutOfServiceVolumeDetach");
  rules.comparison_tolerations = gates.at("TaintTolerationComparisonOperators");
  // Before they were separate, one was switched off with the other.
  if (!gates.at("SeparateTaintEvictionController") && !plan.enabled.node_lifecycle) {
    plan.enabled.taint_eviction = false;
  }
  if (auto sense = check_plan(plan); !sense) return fail(sense.error());
  return plan;
}

}  // namespace holdfast::agent
