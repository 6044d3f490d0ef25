// The checks of the preemption part: a full node makes room for an important pod.

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/words.h"
#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

struct PreemptionTimes {
  DemoTime full{};
  DemoTime posted{};
  DemoTime made{};
};

std::optional<PreemptionTimes> preemption_times_of(const History& history) {
  const auto full = history.when(DemoEvent::node_full);
  const auto posted = history.when(DemoEvent::vip_posted);
  const auto made = history.when(DemoEvent::preempted);
  if (!full || !posted || !made) return std::nullopt;
  return PreemptionTimes{*full, *posted, *made};
}

bool is_lesser(const PodSeen& pod, const DemoSetup& setup) {
  return pod.name.starts_with(setup.lesser + "-");
}

// The pods on the connected node when it was full, and those of them that were deleted until the
// end of this part.
struct FillerPods {
  std::map<std::string, PodSeen> there;  // by uid
  std::map<std::string, PodSeen> left;
};

FillerPods filler_pods_of(const History& history, const DemoSetup& setup,
                          const PreemptionTimes& times) {
  FillerPods filler_pods;
  for (const PodSeen& pod : history.pods) {
    if (pod.at > times.made) break;
    if (pod.at <= times.full) {
      filler_pods.there.erase(pod.uid);
      if (pod.node == setup.connected && !pod.gone) filler_pods.there[pod.uid] = pod;
    } else if (filler_pods.there.contains(pod.uid) && (pod.deleting || pod.gone)) {
      filler_pods.left.emplace(pod.uid, pod);
    }
  }
  return filler_pods;
}

}  // namespace

CheckResult check_preemption(const History& history, const DemoSetup& setup) {
  CheckResult result{"An important pod gets room on a full node; the protected pod there stays"};
  const auto times = preemption_times_of(history);
  if (!times) {
    result.detail = not_played;
    return result;
  }
  bool promised = false;
  std::optional<DemoTime> ready;
  for (const PodSeen& pod : history.pods) {
    if (pod.name != setup.important || pod.at > times->made) continue;
    promised = promised || (pod.nominated == setup.connected && pod.node.empty());
    if (pod.node == setup.connected && pod.ready && !ready) ready = pod.at;
  }
  const FillerPods filler_pods = filler_pods_of(history, setup, *times);
  std::size_t lesser = 0;
  bool guarded = false;
  for (const auto& [uid, pod] : filler_pods.there) {
    const bool left = filler_pods.left.contains(uid);
    if (is_lesser(pod, setup)) {
      lesser += left ? 1 : 0;
    } else if (left) {
      result.detail = pod.name + " had to leave";
    }
    guarded = guarded || pod.name == setup.guarded;
  }
  const auto wanted = static_cast<std::size_t>(setup.lesser_replicas);
  if (!guarded) result.detail = "no protected pod was there";
  if (lesser != wanted) result.detail = plural(lesser, "pod") + " had to leave";
  if (!promised) result.detail = "it was never nominated to " + setup.connected;
  if (!ready) result.detail = "it never ran there";
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = "it was ready " + seconds(*ready - times->posted) + " after its creation; " +
                    plural(lesser, "victim") + ", " + setup.guarded + " stayed";
  }
  return result;
}

CheckResult check_victims_elsewhere(const History& history, const DemoSetup& setup) {
  CheckResult result{"Preempted pods run again on other nodes"};
  const auto times = preemption_times_of(history);
  if (!times) {
    result.detail = not_played;
    return result;
  }
  const FillerPods filler_pods = filler_pods_of(history, setup, *times);
  std::map<std::string, PodSeen> fresh;  // by uid: the first observation as ready
  for (const PodSeen& pod : history.pods) {
    const bool ours = is_lesser(pod, setup) && !filler_pods.there.contains(pod.uid);
    if (ours && pod.at > times->posted && pod.at <= times->made && pod.ready) {
      fresh.emplace(pod.uid, pod);
    }
  }
  DemoTime last{};
  std::set<std::string> nodes;
  for (const auto& [uid, pod] : fresh) {
    last = std::max(last, pod.at);
    nodes.insert(pod.node);
    if (pod.node == setup.connected) result.detail = pod.name + " came back to " + pod.node;
  }
  if (filler_pods.left.empty()) result.detail = "no pod was preempted";
  if (fresh.size() != filler_pods.left.size()) {
    result.detail =
        std::to_string(fresh.size()) + " new pods for " + std::to_string(filler_pods.left.size());
  }
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = plural(fresh.size(), "pod") + " on " +
                    join(std::vector<std::string>(nodes.begin(), nodes.end()), ", ") + ", ready " +
                    seconds(last - times->posted) + " after the important one came";
  }
  return result;
}

}  // namespace holdfast::agent::demo
