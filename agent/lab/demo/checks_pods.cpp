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
  At cut{};
  At restored{};
  At ended{};
};

std::optional<Window> window_of(const History& history) {
  const auto cut = history.when(Deed::cut);
  const auto restored = history.when(Deed::restored);
  const auto ended = history.when(Deed::ended);
  if (!cut || !restored || !ended) return std::nullopt;
  return Window{*cut, *restored, *ended};
}

bool alive_at(const ProcessSeen& process, At at) {
  return process.began <= at && (!process.ended || *process.ended > at);
}

// The latest observation of each pod until `until`.
std::map<std::string, PodSeen> pods_at(const History& history, At until) {
  std::map<std::string, PodSeen> last;
  for (const PodSeen& pod : history.pods) {
    if (pod.at <= until) last[pod.uid] = pod;
  }
  return last;
}

std::string rounded(At at) {
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

std::int64_t processes_at(const History& history, const std::string& node, At at) {
  return std::count_if(history.processes.begin(), history.processes.end(),
                       [&node, at](const ProcessSeen& process) {
                         return process.node == node && alive_at(process, at);
                       });
}

// The uids of the Deployment's pods on the node at `at`.
std::set<std::string> replicas_on(const History& history, const std::string& node, At at) {
  std::set<std::string> uids;
  for (const auto& [uid, pod] : pods_at(history, at)) {
    if (pod.node == node && pod.owner == "ReplicaSet" && !pod.gone) uids.insert(uid);
  }
  return uids;
}

}  // namespace

CheckResult check_pods_kept(const History& history, const Cast& cast) {
  CheckResult verdict{"The autonomous node's pods are not deleted, stopped or restarted"};
  const auto window = window_of(history);
  if (!window) {
    verdict.detail = not_played;
    return verdict;
  }
  const auto processes = processes_at(history, cast.autonomous, window->cut);
  verdict.detail = disturbance(history, cast.autonomous, *window, cast.killed_pod);
  if (verdict.detail.empty() && processes == 0) verdict.detail = "no process was seen there";
  verdict.held = verdict.detail.empty();
  if (verdict.held) {
    verdict.detail = std::to_string(processes) +
                     " processes ran when the link was cut; all but the killed one kept running";
  }
  return verdict;
}

CheckResult check_killed_pod_back(const History& history, const Cast& cast) {
  CheckResult verdict{"A pod that dies while cut off is started again from the cache"};
  const auto killed = history.when(Deed::pod_killed);
  const auto restored = history.when(Deed::restored);
  if (!killed || !restored) {
    verdict.detail = not_played;
    return verdict;
  }
  int ended = 0;
  std::optional<At> again;
  for (const ProcessSeen& process : history.processes) {
    if (process.uid != cast.killed_pod) continue;
    if (process.ended && *process.ended <= *restored) ++ended;
    if (process.began >= *killed && process.began <= *restored) again = process.began;
  }
  verdict.held = ended == 1 && again;
  verdict.detail = verdict.held ? "it ran again after " + rounded(*again - *killed)
                                : "it ended " + std::to_string(ended) +
                                      " times; before the link was restored it was " +
                                      (again ? "" : "not ") + "started again";
  return verdict;
}

CheckResult check_connected_undisturbed(const History& history, const Cast& cast) {
  CheckResult verdict{"The connected node's pods are not affected"};
  const auto window = window_of(history);
  if (!window) {
    verdict.detail = not_played;
    return verdict;
  }
  const auto processes = processes_at(history, cast.connected, window->cut);
  verdict.detail = disturbance(history, cast.connected, *window, {});
  if (verdict.detail.empty() && processes == 0) verdict.detail = "no process was seen there";
  verdict.held = verdict.detail.empty();
  if (verdict.held) verdict.detail = std::to_string(processes) + " processes ran all the time";
  return verdict;
}

CheckResult check_autonomous_shown(const History& history, const Cast& cast) {
  CheckResult verdict{"The autonomous node is shown Unknown and takes no pods, but evicts none"};
  bool shown = false;
  for (const NodeSeen& node : history.nodes) {
    if (node.name != cast.autonomous) continue;
    bool no_schedule = false;
    for (const std::string& taint : node.taints) {
      if (taint.ends_with(":NoExecute")) verdict.detail = "it had the taint " + taint;
      no_schedule = no_schedule || taint == "node.kubernetes.io/unreachable:NoSchedule";
    }
    shown = shown || (node.ready == "Unknown" && no_schedule);
  }
  if (!shown) verdict.detail = "it was never shown Unknown with a NoSchedule taint";
  verdict.held = verdict.detail.empty();
  if (verdict.held) verdict.detail = "Ready=Unknown, unreachable:NoSchedule, never NoExecute";
  return verdict;
}

CheckResult check_evicted_and_replaced(const History& history, const Cast& cast) {
  CheckResult verdict{"The other node's pods are evicted and run again on the connected one"};
  const auto window = window_of(history);
  if (!window) {
    verdict.detail = not_played;
    return verdict;
  }
  const auto lost = replicas_on(history, cast.ordinary, window->cut);
  const auto before = pods_at(history, window->cut);
  const auto after = pods_at(history, window->restored);
  const At limit = window->cut + cast.eviction_deadline;
  const std::string web = std::string(web_name) + "-";
  std::map<std::string, At> fresh;  // the new pods on the connected node, since when ready
  for (const PodSeen& pod : history.pods) {
    const bool is_new = pod.name.starts_with(web) && !before.contains(pod.uid);
    if (is_new && pod.node == cast.connected && pod.ready) fresh.emplace(pod.uid, pod.at);
  }
  At last{};
  for (const auto& [uid, at] : fresh) last = std::max(last, at);
  for (const std::string& uid : lost) {
    const PodSeen& pod = after.at(uid);
    if (!pod.deleting && !pod.gone) verdict.detail = pod.name + " was not evicted";
  }
  if (lost.empty()) verdict.detail = "nothing ran there";
  if (fresh.size() != lost.size()) {
    verdict.detail = std::to_string(fresh.size()) + " new pods for " + std::to_string(lost.size());
  } else if (last > limit) {
    verdict.detail = "it took " + seconds(last - window->cut);
  }
  verdict.held = verdict.detail.empty();
  if (verdict.held) {
    verdict.detail = std::to_string(lost.size()) + " pods, ready " + seconds(last - window->cut) +
                     " after the cut (limit " + format_duration(cast.eviction_deadline) + ")";
  }
  return verdict;
}

CheckResult check_stale_copies_stop(const History& history, const Cast& cast) {
  CheckResult verdict{"Stale copies of evicted pods stop once the link is back, and are gone"};
  const auto window = window_of(history);
  if (!window) {
    verdict.detail = not_played;
    return verdict;
  }
  const auto stale = replicas_on(history, cast.ordinary, window->cut);
  const auto last = pods_at(history, window->ended);
  for (const ProcessSeen& process : history.processes) {
    if (!stale.contains(process.uid)) continue;
    const std::string name = "process " + std::to_string(process.pid);
    if (alive_at(process, window->ended)) verdict.detail = name + " still ran at the end";
    if (!alive_at(process, window->restored)) verdict.detail = name + " ended before it should";
  }
  for (const std::string& uid : stale) {
    if (!last.at(uid).gone) verdict.detail = last.at(uid).name + " is still there";
  }
  if (stale.empty()) verdict.detail = "nothing ran there";
  verdict.held = verdict.detail.empty();
  if (verdict.held) {
    verdict.detail = std::to_string(stale.size()) + " copies ran until the link was back";
  }
  return verdict;
}

}  // namespace holdfast::agent::demo
