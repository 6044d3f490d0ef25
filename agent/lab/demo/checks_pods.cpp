// The checks that look at pods and their processes.

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/constants.h"
#include "agent/lab/demo/words.h"

namespace holdfast::agent::demo {
namespace {

struct Window {
  DemoTime cut{};
  DemoTime restored{};
  DemoTime ended{};
};

std::optional<Window> window_of(const History& history) {
  const auto cut = history.when(DemoEvent::cut);
  const auto restored = history.when(DemoEvent::restored);
  const auto ended = history.when(DemoEvent::ended);
  if (!cut || !restored || !ended) return std::nullopt;
  return Window{*cut, *restored, *ended};
}

bool alive_at(const ProcessSeen& process, DemoTime at) {
  return process.began <= at && (!process.ended || *process.ended > at);
}

// The latest observation of each pod until `until`.
std::map<std::string, PodSeen> pods_at(const History& history, DemoTime until) {
  std::map<std::string, PodSeen> last;
  for (const PodSeen& pod : history.pods) {
    if (pod.at <= until) last[pod.uid] = pod;
  }
  return last;
}

std::string rounded(DemoTime at) {
  return format_duration(std::chrono::floor<std::chrono::milliseconds>(at));
}

// What happened to a node's pods between cut and end, or "". The pod with the uid `excused` may
// have been restarted.
std::string disturbance(const History& history, const std::string& node, const Window& window,
                        const std::string& excused) {
  const auto before = pods_at(history, window.cut);
  for (const PodSeen& pod : history.pods) {
    if (pod.node != node || pod.at <= window.cut || pod.at > window.ended) continue;
    if (pod.deleting || pod.gone) return pod.name + " was deleted at " + seconds(pod.at);
    const auto was = before.find(pod.uid);
    const int restarts = was == before.end() ? 0 : was->second.restarts;
    if (pod.uid != excused && pod.restarts != restarts) return pod.name + " was restarted";
  }
  for (const ProcessSeen& process : history.processes) {
    if (process.node != node || process.uid == excused || !process.ended) continue;
    if (*process.ended <= window.cut || *process.ended > window.ended) continue;
    return "process " + std::to_string(process.pid) + " ended at " + seconds(*process.ended);
  }
  return {};
}

std::int64_t processes_at(const History& history, const std::string& node, DemoTime at) {
  return std::count_if(history.processes.begin(), history.processes.end(),
                       [&node, at](const ProcessSeen& process) {
                         return process.node == node && alive_at(process, at);
                       });
}

// The uids of the Deployment's pods on the node at `at`.
std::set<std::string> replicas_on(const History& history, const std::string& node, DemoTime at) {
  std::set<std::string> uids;
  for (const auto& [uid, pod] : pods_at(history, at)) {
    if (pod.node == node && pod.owner == "ReplicaSet" && !pod.gone) uids.insert(uid);
  }
  return uids;
}

}  // namespace

CheckResult check_pods_kept(const History& history, const DemoSetup& setup) {
  CheckResult result{"The autonomous node's pods are not deleted, stopped or restarted"};
  const auto window = window_of(history);
  if (!window) {
    result.detail = not_played;
    return result;
  }
  const auto processes = processes_at(history, setup.autonomous, window->cut);
  result.detail = disturbance(history, setup.autonomous, *window, setup.killed_pod);
  if (result.detail.empty() && processes == 0) result.detail = "no process was seen there";
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = std::to_string(processes) +
                    " processes ran when the link was cut; all but the killed one kept running";
  }
  return result;
}

CheckResult check_killed_pod_back(const History& history, const DemoSetup& setup) {
  CheckResult result{"A pod that dies while cut off is started again from the cache"};
  const auto killed = history.when(DemoEvent::pod_killed);
  const auto restored = history.when(DemoEvent::restored);
  if (!killed || !restored) {
    result.detail = not_played;
    return result;
  }
  int ended = 0;
  std::optional<DemoTime> again;
  for (const ProcessSeen& process : history.processes) {
    if (process.uid != setup.killed_pod) continue;
    if (process.ended && *process.ended <= *restored) ++ended;
    if (process.began >= *killed && process.began <= *restored) again = process.began;
  }
  result.held = ended == 1 && again;
  result.detail = result.held ? "it ran again after " + rounded(*again - *killed)
                              : "it ended " + std::to_string(ended) +
                                    " times; before the link was restored it was " +
                                    (again ? "" : "not ") + "started again";
  return result;
}

CheckResult check_connected_undisturbed(const History& history, const DemoSetup& setup) {
  CheckResult result{"The connected node's pods are not affected"};
  const auto window = window_of(history);
  if (!window) {
    result.detail = not_played;
    return result;
  }
  const auto processes = processes_at(history, setup.connected, window->cut);
  result.detail = disturbance(history, setup.connected, *window, {});
  if (result.detail.empty() && processes == 0) result.detail = "no process was seen there";
  result.held = result.detail.empty();
  if (result.held) result.detail = std::to_string(processes) + " processes ran all the time";
  return result;
}

CheckResult check_autonomous_marked_unknown(const History& history, const DemoSetup& setup) {
  CheckResult result{"The autonomous node is shown Unknown and takes no pods, but evicts none"};
  bool shown = false;
  for (const NodeSeen& node : history.nodes) {
    if (node.name != setup.autonomous) continue;
    bool no_schedule = false;
    for (const std::string& taint : node.taints) {
      if (taint.ends_with(":NoExecute")) result.detail = "it had the taint " + taint;
      no_schedule = no_schedule || taint == "node.kubernetes.io/unreachable:NoSchedule";
    }
    shown = shown || (node.ready == "Unknown" && no_schedule);
  }
  if (!shown) result.detail = "it was never shown Unknown with a NoSchedule taint";
  result.held = result.detail.empty();
  if (result.held) result.detail = "Ready=Unknown, unreachable:NoSchedule, never NoExecute";
  return result;
}

CheckResult check_evicted_and_replaced(const History& history, const DemoSetup& setup) {
  CheckResult result{"The other node's pods are evicted and run again on the connected one"};
  const auto window = window_of(history);
  if (!window) {
    result.detail = not_played;
    return result;
  }
  const auto lost = replicas_on(history, setup.ordinary, window->cut);
  const auto before = pods_at(history, window->cut);
  const auto after = pods_at(history, window->restored);
  const DemoTime limit = window->cut + setup.eviction_deadline;
  const std::string web = std::string(web_name) + "-";
  std::map<std::string, DemoTime> fresh;  // the new pods on the connected node, since when ready
  for (const PodSeen& pod : history.pods) {
    const bool is_new = pod.name.starts_with(web) && !before.contains(pod.uid);
    if (is_new && pod.node == setup.connected && pod.ready) fresh.emplace(pod.uid, pod.at);
  }
  DemoTime last{};
  for (const auto& [uid, at] : fresh) last = std::max(last, at);
  for (const std::string& uid : lost) {
    const PodSeen& pod = after.at(uid);
    if (!pod.deleting && !pod.gone) result.detail = pod.name + " was not evicted";
  }
  if (lost.empty()) result.detail = "nothing ran there";
  if (fresh.size() != lost.size()) {
    result.detail = std::to_string(fresh.size()) + " new pods for " + std::to_string(lost.size());
  } else if (last > limit) {
    result.detail = "it took " + seconds(last - window->cut);
  }
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = std::to_string(lost.size()) + " pods, ready " + seconds(last - window->cut) +
                    " after the cut (limit " + format_duration(setup.eviction_deadline) + ")";
  }
  return result;
}

CheckResult check_stale_copies_stop(const History& history, const DemoSetup& setup) {
  CheckResult result{"Stale copies of evicted pods stop once the link is back, and are gone"};
  const auto window = window_of(history);
  if (!window) {
    result.detail = not_played;
    return result;
  }
  const auto stale = replicas_on(history, setup.ordinary, window->cut);
  const auto last = pods_at(history, window->ended);
  for (const ProcessSeen& process : history.processes) {
    if (!stale.contains(process.uid)) continue;
    const std::string name = "process " + std::to_string(process.pid);
    if (alive_at(process, window->ended)) result.detail = name + " still ran at the end";
    if (!alive_at(process, window->restored)) result.detail = name + " ended before it should";
  }
  for (const std::string& uid : stale) {
    if (!last.at(uid).gone) result.detail = last.at(uid).name + " is still there";
  }
  if (stale.empty()) result.detail = "nothing ran there";
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = std::to_string(stale.size()) + " copies ran until the link was back";
  }
  return result;
}

}  // namespace holdfast::agent::demo
