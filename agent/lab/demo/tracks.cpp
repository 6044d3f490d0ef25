#include "agent/lab/demo/tracks.h"

#include <algorithm>
#include <map>

#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

// Ends the current stretch at `at`, and begins another one unless `look` is empty.
void turn(Track& track, At at, std::string look, std::string label, std::string hint) {
  auto& stretches = track.stretches;
  if (!stretches.empty() && stretches.back().to == At::max()) {
    if (stretches.back().look == look && stretches.back().label == label) return;
    stretches.back().to = at;
  }
  if (look.empty()) return;
  stretches.push_back({at, At::max(), std::move(look), std::move(label), std::move(hint)});
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

// The processes of a pod, with the time from which it is being deleted in the API.
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

// Keeps only the parts of stretches between `from` and `to`.
void crop(std::vector<Track>& tracks, At from, At to) {
  for (Track& track : tracks) {
    for (Stretch& stretch : track.stretches) {
      stretch.from = std::max(stretch.from, from);
      stretch.to = std::min(stretch.to, to);
    }
    std::erase_if(track.stretches,
                  [](const Stretch& stretch) { return stretch.from >= stretch.to; });
  }
}

std::vector<Mark> marks_between(const History& history, At from, At to) {
  std::vector<Mark> marks;
  for (const Mark& mark : history.marks) {
    if (mark.at >= from && mark.at <= to) marks.push_back(mark);
  }
  return marks;
}

// Whether a mark of that deed names the node.
bool hit(const History& history, Deed deed, const std::string& node) {
  for (const Mark& mark : history.marks) {
    const auto& nodes = mark.nodes;
    if (mark.deed == deed && std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
      return true;
    }
  }
  return false;
}

// The states of a site's node, and the eviction of its pod.
Track site_track(const History& history, const std::string& node) {
  Track track{.name = node};
  for (const NodeSeen& seen : history.nodes) {
    if (seen.name != node || seen.ready.empty()) continue;
    const bool executes =
        std::any_of(seen.taints.begin(), seen.taints.end(),
                    [](const std::string& taint) { return taint.ends_with(":NoExecute"); });
    const std::string look = executes ? "taint-execute" : "ready-" + seen.ready;
    std::string hint = "Ready=" + seen.ready;
    if (!seen.taints.empty()) hint += ", " + join(seen.taints, ", ");
    turn(track, seen.at, look, executes ? "NoExecute" : seen.ready, std::move(hint));
  }
  for (const PodSeen& pod : history.pods) {
    if (pod.node != node || !pod.deleting) continue;
    constexpr At mark_width = std::chrono::milliseconds(400);
    track.stretches.push_back(
        {pod.at, pod.at + mark_width, "evicted", "", pod.name + " is evicted"});
    break;
  }
  return track;
}

void add_site(Picture& picture, const History& history, const Cast& cast, const std::string& site,
              Deed deed) {
  const std::string heading = "site " + site;
  bool first = true;
  for (const std::string& node : cast.nodes_of(site)) {
    Track track = site_track(history, node);
    if (first) track.heading = heading;
    first = false;
    picture.tracks.push_back(std::move(track));
  }
  const auto cut = history.when(deed);
  if (!cut) return;
  const At restored = history.when(Deed::all_restored).value_or(picture.to);
  picture.shades.push_back({heading, *cut, restored, "the link of " + heading + " is cut"});
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

Picture outage_picture(const History& history, const Cast& cast) {
  Picture picture;
  picture.to = history.when(Deed::sites_open).value_or(end_of(history));
  picture.marks = marks_between(history, At::zero(), picture.to);
  std::erase_if(picture.marks, [](const Mark& mark) { return mark.deed == Deed::sites_open; });
  const auto cut = history.when(Deed::cut);
  const At restored = history.when(Deed::restored).value_or(picture.to);
  for (const std::string& node : cast.nodes()) {
    picture.tracks.push_back(link_track(history, node));
    picture.tracks.push_back(ready_track(history, node));
    picture.tracks.push_back(taint_track(history, node));
    for (const PodSeen& pod : pods_of(history, node)) {
      picture.tracks.push_back(pod_track(history, pod));
    }
    if (cut && hit(history, Deed::cut, node)) {
      picture.shades.push_back({node, *cut, restored, "the link of " + node + " is cut"});
    }
  }
  crop(picture.tracks, picture.from, picture.to);
  return picture;
}

Picture sites_picture(const History& history, const Cast& cast) {
  Picture picture;
  const auto begin = history.when(Deed::sites_open);
  if (!begin) return picture;
  picture.from = *begin;
  picture.to = end_of(history);
  picture.marks = marks_between(history, picture.from, picture.to);
  add_site(picture, history, cast, cast.first_site, Deed::site_cut);
  add_site(picture, history, cast, cast.other_site, Deed::all_cut);
  crop(picture.tracks, picture.from, picture.to);
  return picture;
}

}  // namespace holdfast::agent::demo
