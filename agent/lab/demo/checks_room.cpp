// The checks of the preemption scene: a full node makes room for an important pod.

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/words.h"
#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

struct Room {
  At full{};
  At posted{};
  At made{};
};

std::optional<Room> room_of(const History& history) {
  const auto full = history.when(Deed::crowded);
  const auto posted = history.when(Deed::vip_posted);
  const auto made = history.when(Deed::room_made);
  if (!full || !posted || !made) return std::nullopt;
  return Room{*full, *posted, *made};
}

bool is_lesser(const PodSeen& pod, const Cast& cast) {
  return pod.name.starts_with(cast.lesser + "-");
}

// The pods on the connected node when it was full, and those of them that were deleted until the
// end of the scene.
struct Crowd {
  std::map<std::string, PodSeen> there;  // by uid
  std::map<std::string, PodSeen> left;
};

Crowd crowd_of(const History& history, const Cast& cast, const Room& room) {
  Crowd crowd;
  for (const PodSeen& pod : history.pods) {
    if (pod.at > room.made) break;
    if (pod.at <= room.full) {
      crowd.there.erase(pod.uid);
      if (pod.node == cast.connected && !pod.gone) crowd.there[pod.uid] = pod;
    } else if (crowd.there.contains(pod.uid) && (pod.deleting || pod.gone)) {
      crowd.left.emplace(pod.uid, pod);
    }
  }
  return crowd;
}

}  // namespace

CheckResult check_room_made(const History& history, const Cast& cast) {
  CheckResult verdict{"An important pod gets room on a full node; the protected pod there stays"};
  const auto room = room_of(history);
  if (!room) {
    verdict.detail = not_played;
    return verdict;
  }
  bool promised = false;
  std::optional<At> ready;
  for (const PodSeen& pod : history.pods) {
    if (pod.name != cast.important || pod.at > room->made) continue;
    promised = promised || (pod.nominated == cast.connected && pod.node.empty());
    if (pod.node == cast.connected && pod.ready && !ready) ready = pod.at;
  }
  const Crowd crowd = crowd_of(history, cast, *room);
  std::size_t lesser = 0;
  bool guarded = false;
  for (const auto& [uid, pod] : crowd.there) {
    const bool left = crowd.left.contains(uid);
    if (is_lesser(pod, cast)) {
      lesser += left ? 1 : 0;
    } else if (left) {
      verdict.detail = pod.name + " had to leave";
    }
    guarded = guarded || pod.name == cast.guarded;
  }
  const auto wanted = static_cast<std::size_t>(cast.lesser_replicas);
  if (!guarded) verdict.detail = "no protected pod was there";
  if (lesser != wanted) verdict.detail = plural(lesser, "pod") + " had to leave";
  if (!promised) verdict.detail = "it was never nominated to " + cast.connected;
  if (!ready) verdict.detail = "it never ran there";
  verdict.held = verdict.detail.empty();
  if (verdict.held) {
    verdict.detail = "it was ready " + seconds(*ready - room->posted) + " after its creation; " +
                     plural(lesser, "victim") + ", " + cast.guarded + " stayed";
  }
  return verdict;
}

CheckResult check_victims_elsewhere(const History& history, const Cast& cast) {
  CheckResult verdict{"Preempted pods run again on other nodes"};
  const auto room = room_of(history);
  if (!room) {
    verdict.detail = not_played;
    return verdict;
  }
  const Crowd crowd = crowd_of(history, cast, *room);
  std::map<std::string, PodSeen> fresh;  // by uid: the first observation as ready
  for (const PodSeen& pod : history.pods) {
    const bool ours = is_lesser(pod, cast) && !crowd.there.contains(pod.uid);
    if (ours && pod.at > room->posted && pod.at <= room->made && pod.ready) {
      fresh.emplace(pod.uid, pod);
    }
  }
  At last{};
  std::set<std::string> nodes;
  for (const auto& [uid, pod] : fresh) {
    last = std::max(last, pod.at);
    nodes.insert(pod.node);
    if (pod.node == cast.connected) verdict.detail = pod.name + " came back to " + pod.node;
  }
  if (crowd.left.empty()) verdict.detail = "no pod was preempted";
  if (fresh.size() != crowd.left.size()) {
    verdict.detail =
        std::to_string(fresh.size()) + " new pods for " + std::to_string(crowd.left.size());
  }
  verdict.held = verdict.detail.empty();
  if (verdict.held) {
    verdict.detail = plural(fresh.size(), "pod") + " on " +
                     join(std::vector<std::string>(nodes.begin(), nodes.end()), ", ") + ", ready " +
                     seconds(last - room->posted) + " after the important one came";
  }
  return verdict;
}

}  // namespace holdfast::agent::demo
