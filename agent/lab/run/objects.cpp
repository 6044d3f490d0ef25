#include "agent/lab/run/objects.h"

#include <algorithm>
#include <set>

#include "agent/lab/cluster/api_actions.h"
#include "agent/lab/cluster/kubelet_files.h"
#include "agent/lab/cluster/node_object.h"
#include "sync/objects/names.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::run {
namespace {

namespace json = sync::json;

constexpr std::string_view forever = "1000000000";  // seconds

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

// "1.5": as sleep(1) takes it.
std::string seconds_text(Duration duration) {
  return std::to_string(std::chrono::duration<double>(duration).count());
}

// Sleeps for ever, or as long as a Job runs. One process, unless it takes time to stop.
json::array command_of(const Workload& workload) {
  const bool is_job = workload.kind == WorkloadKind::job;
  const std::string time = is_job ? seconds_text(workload.run_time) : std::string(forever);
  if (workload.stop <= Duration::zero()) return {"/bin/sleep", time};
  const std::string script =
      "trap 'sleep " + seconds_text(workload.stop) + "; exit 0' TERM; sleep " + time + " & wait $!";
  return {"/bin/sh", "-c", script};
}

json::object json_of(const Toleration& toleration) {
  json::object made = {{"operator", toleration.op}};
  if (!toleration.key.empty()) made["key"] = toleration.key;
  if (!toleration.value.empty()) made["value"] = toleration.value;
  if (!toleration.effect.empty()) made["effect"] = toleration.effect;
  if (toleration.seconds) made["tolerationSeconds"] = *toleration.seconds;
  return made;
}

bool tolerates(const Workload& workload, std::string_view taint) {
  return std::any_of(workload.tolerations.begin(), workload.tolerations.end(),
                     [taint](const Toleration& each) {
                       return (each.key.empty() || each.key == taint) &&
                              (each.effect.empty() || each.effect == "NoExecute");
                     });
}

// With those that the API server would add, because its default does not scale.
json::array tolerations_of(const Workload& workload, std::int64_t default_toleration) {
  json::array made;
  for (const Toleration& each : workload.tolerations) made.push_back(json_of(each));
  if (workload.kind == WorkloadKind::daemon_set) return made;  // its controller adds them
  for (const std::string_view taint :
       {sync::objects::taint_not_ready, sync::objects::taint_unreachable}) {
    if (tolerates(workload, taint)) continue;
    made.push_back(json_of({.key = std::string(taint),
                            .op = "Exists",
                            .value = {},
                            .effect = "NoExecute",
                            .seconds = default_toleration}));
  }
  return made;
}

std::string priority_class(int priority) {
  const std::string sign = priority < 0 ? "minus-" : "";
  return "lab-priority-" + sign + std::to_string(std::abs(std::int64_t{priority}));
}

json::object container_of(const Workload& workload) {
  json::object requests;
  if (!workload.cpu.empty()) requests["cpu"] = workload.cpu;
  if (!workload.memory.empty()) requests["memory"] = workload.memory;
  return {{"name", "main"},
          {"image", cluster::pod_image},
          {"command", command_of(workload)},
          {"resources", json::object{{"requests", requests}}}};
}

json::object pod_spec(const Workload& workload, std::int64_t default_toleration,
                      const std::optional<guest::Guest>& guest) {
  json::object spec = {{"containers", json::array{container_of(workload)}},
                       {"automountServiceAccountToken", false},
                       {"terminationGracePeriodSeconds", whole_seconds(workload.grace)},
                       {"tolerations", tolerations_of(workload, default_toleration)}};
  if (workload.kind == WorkloadKind::job) spec["restartPolicy"] = "OnFailure";
  if (workload.priority != 0) {
    const std::string name = priority_class(workload.priority);
    spec["priorityClassName"] = guest ? guest->name(name) : name;
  }
  if (!workload.on.empty()) {
    spec["nodeSelector"] = json::object{{cluster::site_label, workload.on}};
  }
  return spec;
}

std::string_view kind_of(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::deployment:
      return "Deployment";
    case WorkloadKind::daemon_set:
      return "DaemonSet";
    case WorkloadKind::stateful_set:
      return "StatefulSet";
    case WorkloadKind::job:
      return "Job";
  }
  return "";
}

ApiObject object_of(const Workload& workload, std::int64_t default_toleration,
                    const std::optional<guest::Guest>& guest) {
  const json::object labels = {{"app", workload.name}};
  json::object pods = {{"metadata", json::object{{"labels", labels}}},
                       {"spec", pod_spec(workload, default_toleration, guest)}};
  if (guest) guest->confine(pods);
  json::object spec = {{"template", std::move(pods)}};
  if (workload.kind == WorkloadKind::job) {
    spec["completions"] = workload.replicas;
    spec["parallelism"] = workload.replicas;
  } else {
    spec["selector"] = json::object{{"matchLabels", labels}};
    if (workload.kind != WorkloadKind::daemon_set) spec["replicas"] = workload.replicas;
  }
  if (workload.kind == WorkloadKind::stateful_set) spec["serviceName"] = workload.name;
  const json::object made = {
      {"apiVersion", workload.kind == WorkloadKind::job ? "batch/v1" : "apps/v1"},
      {"kind", kind_of(workload.kind)},
      {"metadata", json::object{{"name", workload.name}}},
      {"spec", spec}};
  return {cluster::collection_of(workload), workload.name, sync::wire::serialize(made)};
}

ApiObject namespace_object(const std::string& name) {
  const json::object made = {
      {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object{{"name", name}}}};
  return {"/api/v1/namespaces", name, sync::wire::serialize(made)};
}

ApiObject priority_object(int priority, const std::optional<guest::Guest>& guest) {
  std::string name = priority_class(priority);
  if (guest) name = guest->name(name);
  json::object metadata = {{"name", name}};
  if (guest) guest->mark(metadata);
  const json::object made = {{"apiVersion", "scheduling.k8s.io/v1"},
                             {"kind", "PriorityClass"},
                             {"metadata", metadata},
                             {"value", priority}};
  return {"/apis/scheduling.k8s.io/v1/priorityclasses", name, sync::wire::serialize(made)};
}

ApiObject budget_object(const Workload& workload) {
  const json::object selector = {{"matchLabels", json::object{{"app", workload.name}}}};
  const json::object made = {
      {"apiVersion", "policy/v1"},
      {"kind", "PodDisruptionBudget"},
      {"metadata", json::object{{"name", workload.name}}},
      {"spec", json::object{{"minAvailable", *workload.min_available}, {"selector", selector}}}};
  return {"/apis/policy/v1/namespaces/" + workload.namespace_name + "/poddisruptionbudgets",
          workload.name, sync::wire::serialize(made)};
}

}  // namespace

std::vector<ApiObject> guest_namespaces(const std::set<std::string>& names,
                                        const guest::Guest& guest) {
  std::vector<ApiObject> made;
  for (const std::string& name : names) {
    json::object metadata = {{"name", guest.space(name)}};
    guest.mark(metadata);
    const json::object object = {
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", metadata}};
    made.push_back({"/api/v1/namespaces", guest.space(name), sync::wire::serialize(object)});
  }
  return made;
}

std::vector<ApiObject> objects_of(const Scenario& scenario, std::int64_t default_toleration,
                                  const std::optional<guest::Guest>& guest) {
  std::vector<Workload> ours;
  for (const Workload& each : scenario.workloads) {
    if (!each.is_from_manifest) ours.push_back(each);
  }
  std::stable_partition(ours.begin(), ours.end(),
                        [](const Workload& each) { return each.kind != WorkloadKind::job; });
  std::set<std::string> spaces;
  std::set<int> priorities;
  std::vector<ApiObject> made;
  for (const Workload& each : ours) {
    const bool is_new = spaces.insert(each.namespace_name).second;
    if (is_new && each.namespace_name != "default" && !guest) {
      made.push_back(namespace_object(each.namespace_name));
    }
    if (each.priority != 0 && priorities.insert(each.priority).second) {
      made.push_back(priority_object(each.priority, guest));
    }
  }
  for (const Workload& each : ours) {
    if (each.min_available) made.push_back(budget_object(each));
    made.push_back(object_of(each, default_toleration, guest));
  }
  return made;
}

}  // namespace holdfast::agent::lab::run
