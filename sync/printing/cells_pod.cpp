// Rows of pods, nodes and events.

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "platform/text.h"
#include "sync/printing/age.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

struct PodSummary {
  std::string reason;
  std::int64_t restarts = 0;
  std::optional<WallTime> restarted;  // time of the last restart
  std::size_t ready = 0;
  std::size_t total = 0;
};

// The number of restarts, and the time of the last one.
struct Restarts {
  std::int64_t count = 0;
  std::optional<WallTime> last;

  void add(const json::object& status) {
    count += wire::dig_int(status, {"restartCount"});
    const auto ended =
        parse_rfc3339(wire::dig_text(status, {"lastState", "terminated", "finishedAt"}));
    if (ended && (!last || *last < *ended)) last = *ended;
  }
};

std::string exit_reason(const json::object& terminated) {
  const std::string_view reason = wire::dig_text(terminated, {"reason"});
  if (!reason.empty()) return std::string(reason);
  const std::int64_t signal = wire::dig_int(terminated, {"signal"});
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(wire::dig_int(terminated, {"exitCode"}));
}

bool has_condition(const json::object& object, std::string_view type, std::string_view status) {
  for (const json::value& condition : wire::dig_list(object, {"status", "conditions"})) {
    if (wire::dig_text(wire::as_object(condition), {"type"}) != type) continue;
    return wire::dig_text(wire::as_object(condition), {"status"}) == status;
  }
  return false;
}

// Names of the sidecars: init containers that keep running next to the other containers.
std::set<std::string_view> sidecars_of(const json::object& pod) {
  std::set<std::string_view> names;
  for (const json::value& item : wire::dig_list(pod, {"spec", "initContainers"})) {
    const json::object& container = wire::as_object(item);
    const bool goes_on = wire::dig_text(container, {"restartPolicy"}) == "Always";
    if (goes_on) names.insert(wire::dig_text(container, {"name"}));
  }
  return names;
}

std::string init_reason(const json::object& pod, const json::object& status, std::size_t at) {
  const json::value* terminated = wire::dig(status, {"state", "terminated"});
  const std::string_view waiting = wire::dig_text(status, {"state", "waiting", "reason"});
  if (terminated != nullptr) return "Init:" + exit_reason(wire::as_object(*terminated));
  if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + std::string(waiting);
  return "Init:" + std::to_string(at) + "/" +
         std::to_string(wire::dig_list(pod, {"spec", "initContainers"}).size());
}

// Describes the first init container that is not done. Returns false if all are done. Adds the
// restarts of sidecars to `sidecars`.
bool summarize_init(PodSummary& summary, const json::object& pod, Restarts& sidecars) {
  const std::set<std::string_view> going_on = sidecars_of(pod);
  summary.total += going_on.size();
  Restarts all;
  bool initializing = false;
  const json::array& statuses = wire::dig_list(pod, {"status", "initContainerStatuses"});
  for (std::size_t at = 0; at < statuses.size() && !initializing; ++at) {
    const json::object& status = wire::as_object(statuses[at]);
    const bool is_sidecar = going_on.contains(wire::dig_text(status, {"name"}));
    all.add(status);
    if (is_sidecar) sidecars.add(status);
    const json::value* terminated = wire::dig(status, {"state", "terminated"});
    const bool done =
        terminated != nullptr && wire::dig_int(wire::as_object(*terminated), {"exitCode"}) == 0;
    const bool runs = !done && is_sidecar && wire::dig_bool(status, {"started"});
    if (runs && wire::dig_bool(status, {"ready"})) ++summary.ready;
    if (done || runs) continue;
    summary.reason = init_reason(pod, status, at);
    initializing = true;
  }
  summary.restarts = all.count;
  summary.restarted = all.last;
  return initializing;
}

void summarize_containers(PodSummary& summary, const json::object& pod, Restarts restarts) {
  bool running = false;
  const json::array& statuses = wire::dig_list(pod, {"status", "containerStatuses"});
  for (auto at = statuses.rbegin(); at != statuses.rend(); ++at) {
    const json::object& status = wire::as_object(*at);
    restarts.add(status);
    const std::string_view waiting = wire::dig_text(status, {"state", "waiting", "reason"});
    const json::value* terminated = wire::dig(status, {"state", "terminated"});
    if (!waiting.empty()) {
      summary.reason = waiting;
    } else if (terminated != nullptr) {
      summary.reason = exit_reason(wire::as_object(*terminated));
    } else if (wire::dig_bool(status, {"ready"}) &&
               wire::dig(status, {"state", "running"}) != nullptr) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason == "Completed" && running) {
    summary.reason = has_condition(pod, "Ready", "True") ? "Running" : "NotReady";
  }
  summary.restarts = restarts.count;
  summary.restarted = restarts.last;
}

bool is_gated(const json::object& pod) {
  for (const json::value& item : wire::dig_list(pod, {"status", "conditions"})) {
    const json::object& condition = wire::as_object(item);
    const bool gated = wire::dig_text(condition, {"type"}) == "PodScheduled" &&
                       wire::dig_text(condition, {"reason"}) == "SchedulingGated";
    if (gated) return true;
  }
  return false;
}

PodSummary summarize(const json::object& pod) {
  const std::string_view phase = wire::dig_text(pod, {"status", "phase"});
  PodSummary summary;
  summary.total = wire::dig_list(pod, {"spec", "containers"}).size();
  summary.reason = text_or(wire::dig_text(pod, {"status", "reason"}), phase);
  if (is_gated(pod)) summary.reason = "SchedulingGated";
  Restarts sidecars;
  const bool initializing = summarize_init(summary, pod, sidecars);
  if (!initializing || has_condition(pod, "Initialized", "True")) {
    summarize_containers(summary, pod, sidecars);
  }
  if (!wire::is_terminating(pod)) return summary;
  const bool lost = wire::dig_text(pod, {"status", "reason"}) == "NodeLost";
  const bool over = phase == "Succeeded" || phase == "Failed";
  if (lost || !over) summary.reason = lost ? "Unknown" : "Terminating";
  return summary;
}

// "4", "4 (12m ago)"
std::string restarts_cell(const PodSummary& summary, WallTime now) {
  const std::string count = std::to_string(summary.restarts);
  if (summary.restarts == 0 || !summary.restarted) return count;
  return count + " (" + human_duration(time_since(*summary.restarted, now)) + " ago)";
}

std::string readiness_gates(const json::object& pod) {
  const json::array& gates = wire::dig_list(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  std::size_t passed = 0;
  for (const json::value& gate : gates) {
    if (has_condition(pod, wire::dig_text(wire::as_object(gate), {"conditionType"}), "True"))
      ++passed;
  }
  return std::to_string(passed) + "/" + std::to_string(gates.size());
}

std::string pod_address(const json::object& pod) {
  const json::array& addresses = wire::dig_list(pod, {"status", "podIPs"});
  if (!addresses.empty()) return std::string(wire::dig_text(wire::as_object(addresses[0]), {"ip"}));
  return std::string(text_or(wire::dig_text(pod, {"status", "podIP"}), "<none>"));
}

std::string node_roles(const json::object& node) {
  std::set<std::string> roles;
  constexpr std::string_view prefix = "node-role.kubernetes.io/";
  for (const auto& label : wire::dig_object(node, {"metadata", "labels"})) {
    const std::string_view key = label.key();
    if (key.starts_with(prefix) && key.size() > prefix.size()) {
      roles.emplace(key.substr(prefix.size()));
    }
    const bool role = key == "kubernetes.io/role" && !wire::as_text(label.value()).empty();
    if (role) roles.emplace(wire::as_text(label.value()));
  }
  if (roles.empty()) return "<none>";
  return join(std::vector<std::string>(roles.begin(), roles.end()), ",");
}

std::string node_status(const json::object& node) {
  std::string status = "Unknown";
  for (const json::value& condition : wire::dig_list(node, {"status", "conditions"})) {
    if (wire::dig_text(wire::as_object(condition), {"type"}) != "Ready") continue;
    status =
        wire::dig_text(wire::as_object(condition), {"status"}) == "True" ? "Ready" : "NotReady";
  }
  if (wire::dig_bool(node, {"spec", "unschedulable"})) status += ",SchedulingDisabled";
  return status;
}

std::string_view node_address(const json::object& node, std::string_view type) {
  for (const json::value& address : wire::dig_list(node, {"status", "addresses"})) {
    if (wire::dig_text(wire::as_object(address), {"type"}) == type) {
      return wire::dig_text(wire::as_object(address), {"address"});
    }
  }
  return "<none>";
}

// "6.1.0 (amd64)"
std::string node_kernel(const json::object& info) {
  const std::string_view architecture = wire::dig_text(info, {"architecture"});
  std::string kernel(text_or(wire::dig_text(info, {"kernelVersion"}), "<unknown>"));
  if (!architecture.empty()) kernel.append(" (").append(architecture).append(")");
  return kernel;
}

std::string event_source(const json::object& event) {
  std::string_view who = wire::dig_text(event, {"source", "component"});
  std::string_view where = wire::dig_text(event, {"source", "host"});
  if (who.empty()) {
    who = wire::dig_text(event, {"reportingComponent"});
    where = wire::dig_text(event, {"reportingInstance"});
  }
  if (where.empty()) return std::string(who);
  return std::string(who) + ", " + std::string(where);
}

}  // namespace

void pod_cells(json::array& cells, const json::object& pod, WallTime now) {
  const PodSummary summary = summarize(pod);
  cells.emplace_back(wire::name_of(pod));
  cells.emplace_back(std::to_string(summary.ready) + "/" + std::to_string(summary.total));
  cells.emplace_back(summary.reason);
  cells.emplace_back(restarts_cell(summary, now));
  cells.emplace_back(object_age(pod, now));
  cells.emplace_back(pod_address(pod));
  cells.emplace_back(text_or(wire::dig_text(pod, {"spec", "nodeName"}), "<none>"));
  cells.emplace_back(text_or(wire::dig_text(pod, {"status", "nominatedNodeName"}), "<none>"));
  cells.emplace_back(readiness_gates(pod));
}

void node_cells(json::array& cells, const json::object& node, WallTime now) {
  const json::object& info = wire::dig_object(node, {"status", "nodeInfo"});
  cells.emplace_back(wire::name_of(node));
  cells.emplace_back(node_status(node));
  cells.emplace_back(node_roles(node));
  cells.emplace_back(object_age(node, now));
  cells.emplace_back(wire::dig_text(info, {"kubeletVersion"}));
  cells.emplace_back(node_address(node, "InternalIP"));
  cells.emplace_back(node_address(node, "ExternalIP"));
  cells.emplace_back(text_or(wire::dig_text(info, {"osImage"}), "<unknown>"));
  cells.emplace_back(node_kernel(info));
  cells.emplace_back(text_or(wire::dig_text(info, {"containerRuntimeVersion"}), "<unknown>"));
}

void event_cells(json::array& cells, const json::object& event, WallTime now) {
  // Events of events.k8s.io are printed in their core form, so all events have these fields.
  std::string first = age_of(wire::dig(event, {"firstTimestamp"}), now);
  if (wire::dig(event, {"firstTimestamp"}) == nullptr)
    first = age_of(wire::dig(event, {"eventTime"}), now);
  std::string last = age_of(wire::dig(event, {"lastTimestamp"}), now);
  if (wire::dig(event, {"lastTimestamp"}) == nullptr) last = first;
  std::int64_t count = std::max<std::int64_t>(wire::dig_int(event, {"count"}), 1);
  if (wire::dig(event, {"series"}) != nullptr) {
    last = age_of(wire::dig(event, {"series", "lastObservedTime"}), now);
    count = wire::dig_int(event, {"series", "count"});
  }
  std::string target = to_lower(wire::dig_text(event, {"involvedObject", "kind"}));
  const std::string_view name = wire::dig_text(event, {"involvedObject", "name"});
  if (!name.empty()) target.append("/").append(name);
  cells.emplace_back(last);
  cells.emplace_back(wire::dig_text(event, {"type"}));
  cells.emplace_back(wire::dig_text(event, {"reason"}));
  cells.emplace_back(target);
  cells.emplace_back(wire::dig_text(event, {"involvedObject", "fieldPath"}));
  cells.emplace_back(event_source(event));
  cells.emplace_back(trim(wire::dig_text(event, {"message"})));
  cells.emplace_back(first);
  cells.emplace_back(count);
  cells.emplace_back(wire::name_of(event));
}

}  // namespace holdfast::sync::printing
