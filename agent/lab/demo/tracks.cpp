#include "agent/lab/demo/tracks.h"

#include <algorithm>
#include <map>

#include "platform/text.h"

namespace holdfast::demo {
namespace {

// Ends what is drawn at `at`, and begins something else unless `look` is empty.
void turn(Track& track, At at, std::string look, std::string label, std::string hint) {
  auto& stretches = track.stretches;
  if (!stretches.empty() && stretches.back().to == At::max()) {
    if (stretches.back().look == look && stretches.back().label == label) return;
    stretches.back().to = at;
  }
  if (look.empty()) return;
  stretches.push_back({at, At::max(), std::move(look), std::move(label), std::move(hint)});
}

void close(Track& track, At end) {
  for (Stretch& stretch : track.stretches) stretch.to = std::min(stretch.to, end);
}

Track link_track(const History& history, const std::string& node) {
  Track track{.name = "link", .heading = node, .thick = true};
  for (const LinkSeen& seen : history.links) {
    if (seen.node != node) continue;
    turn(track, seen.at, "link-" + seen.state, seen.state == "down" ? "agent down" : seen.state,
         node + " says its link is " + seen.state);
  }
  return track;
}

Track ready_track(const History& history, const std::string& node) {
  Track track{.name = "Ready"};
  for (const NodeSeen& seen : history.nodes) {
    if (seen.name != node || seen.ready.empty()) continue;
    turn(track, seen.at, "ready-" + seen.ready, seen.ready, "Ready=" + seen.ready);
  }
  return track;
}

Track taint_track(const History& history, const std::string& node) {
  Track track{.name = "taints"};
  for (const NodeSeen& seen : history.nodes) {
    if (seen.name != node) continue;
    const bool executes =
        std::any_of(seen.taints.begin(), seen.taints.end(),
                    [](const std::string& taint) { return taint.ends_with(":NoExecute"); });
    std::string look = executes ? "taint-execute" : "taint-schedule";
    if (seen.taints.empty()) look.clear();
    turn(track, seen.at, look, executes ? "NoExecute" : "NoSchedule", join(seen.taints, ", "));
  }
  return track;
}

// The processes of a pod, and from when on the cloud wants it gone.
Track pod_track(const History& history, const PodSeen& pod) {
  Track track{.name = pod.name};
  std::optional<At> deleting;
  for (const PodSeen& seen : history.pods) {
    if (seen.uid == pod.uid && seen.deleting && !deleting) deleting = seen.at;
  }
  bool first = true;
  for (const ProcessSeen& process : history.processes) {
    if (process.uid != pod.uid) continue;
    const At to = process.ended.value_or(At::max());
    const std::string pid = "pid " + std::to_string(process.pid);
    const std::string look = first ? "process" : "process again";
    first = false;
    const bool split = deleting && *deleting > process.began && *deleting < to;
    track.stretches.push_back(
        {process.began, split ? *deleting : to, look, pid, pod.name + ": process " + pid});
    if (!split) continue;
    track.stretches.push_back({*deleting, to, "process stale", "deleted, still running",
                               "the cloud has deleted it; its process " + pid + " ends later"});
  }
  return track;
}

std::vector<PodSeen> pods_of(const History& history, const std::string& node) {
  std::map<std::string, PodSeen> found;  // by uid
  for (const PodSeen& pod : history.pods) {
    if (pod.node == node) found[pod.uid] = pod;
  }
  std::vector<PodSeen> pods;
  for (const auto& [uid, pod] : found) pods.push_back(pod);
  std::sort(pods.begin(), pods.end(), [](const PodSeen& left, const PodSeen& right) {
    return std::tie(right.owner, left.name) < std::tie(left.owner, right.name);
  });
  return pods;
}

}  // namespace

At end_of(const History& history) {
  At end = std::chrono::seconds(1);
  for (const Mark& seen : history.marks) end = std::max(end, seen.at);
  for (const LinkSeen& seen : history.links) end = std::max(end, seen.at);
  for (const NodeSeen& seen : history.nodes) end = std::max(end, seen.at);
  for (const PodSeen& seen : history.pods) end = std::max(end, seen.at);
  for (const ProcessSeen& seen : history.processes) {
    end = std::max(end, seen.ended.value_or(seen.began));
  }
  return end;
}

std::vector<Track> tracks_of(const History& history, const Cast& cast) {
  std::vector<Track> tracks;
  for (const std::string& node : cast.nodes()) {
    tracks.push_back(link_track(history, node));
    tracks.push_back(ready_track(history, node));
    tracks.push_back(taint_track(history, node));
    for (const PodSeen& pod : pods_of(history, node)) tracks.push_back(pod_track(history, pod));
  }
  const At end = end_of(history);
  for (Track& track : tracks) close(track, end);
  return tracks;
}

}  // namespace holdfast::demo
