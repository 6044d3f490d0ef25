#include "agent/lab/demo/tracks.h"

#include <algorithm>
#include <map>

#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

// Ends the current segment at `at`, and begins another one unless `look` is empty.
void turn(Track& track, DemoTime at, std::string look, std::string label, std::string hint) {
  auto& segments = track.segments;
  if (!segments.empty() && segments.back().to == DemoTime::max()) {
    if (segments.back().look == look && segments.back().label == label) return;
    segments.back().to = at;
  }
  if (look.empty()) return;
  segments.push_back({at, DemoTime::max(), std::move(look), std::move(label), std::move(hint)});
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
  std::optional<DemoTime> deleting;
  for (const PodSeen& seen : history.pods) {
    if (seen.uid == pod.uid && seen.deleting && !deleting) deleting = seen.at;
  }
  bool first = true;
  for (const ProcessSeen& process : history.processes) {
    if (process.uid != pod.uid) continue;
    const DemoTime to = process.ended.value_or(DemoTime::max());
    const std::string pid = "pid " + std::to_string(process.pid);
    const std::string look = first ? "process" : "process again";
    first = false;
    const bool split = deleting && *deleting > process.began && *deleting < to;
    track.segments.push_back(
        {process.began, split ? *deleting : to, look, pid, pod.name + ": process " + pid});
    if (!split) continue;
    track.segments.push_back({*deleting, to, "process stale", "deleted, still running",
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
  pods.reserve(found.size());
  for (const auto& [uid, pod] : found) pods.push_back(pod);
  std::sort(pods.begin(), pods.end(), [](const PodSeen& left, const PodSeen& right) {
    return std::tie(right.owner, left.name) < std::tie(left.owner, right.name);
  });
  return pods;
}

// Keeps only the parts of segments between `from` and `to`.
void crop(std::vector<Track>& tracks, DemoTime from, DemoTime to) {
  for (Track& track : tracks) {
    for (Segment& stretch : track.segments) {
      stretch.from = std::max(stretch.from, from);
      stretch.to = std::min(stretch.to, to);
    }
    std::erase_if(track.segments,
                  [](const Segment& stretch) { return stretch.from >= stretch.to; });
  }
}

std::vector<Mark> marks_between(const History& history, DemoTime from, DemoTime to) {
  std::vector<Mark> marks;
  for (const Mark& mark : history.marks) {
    if (mark.at >= from && mark.at <= to) marks.push_back(mark);
  }
  return marks;
}

// Whether a mark of that event names the node.
bool hit(const History& history, DemoEvent event, const std::string& node) {
  for (const Mark& mark : history.marks) {
    const auto& nodes = mark.nodes;
    if (mark.event == event && std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
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
    constexpr DemoTime mark_width = std::chrono::milliseconds(400);
    track.segments.push_back(
        {pod.at, pod.at + mark_width, "evicted", "", pod.name + " is evicted"});
    break;
  }
  return track;
}

void add_site(Timeline& timeline, const History& history, const DemoSetup& setup,
              const std::string& site, DemoEvent event) {
  const std::string heading = "site " + site;
  bool first = true;
  for (const std::string& node : setup.nodes_of(site)) {
    Track track = site_track(history, node);
    if (first) track.heading = heading;
    first = false;
    timeline.tracks.push_back(std::move(track));
  }
  const auto cut = history.when(event);
  if (!cut) return;
  const DemoTime restored = history.when(DemoEvent::all_restored).value_or(timeline.to);
  timeline.shades.push_back({heading, *cut, restored, "the link of " + heading + " is cut"});
}

}  // namespace

DemoTime end_of(const History& history) {
  DemoTime end = std::chrono::seconds(1);
  for (const Mark& seen : history.marks) end = std::max(end, seen.at);
  for (const LinkSeen& seen : history.links) end = std::max(end, seen.at);
  for (const NodeSeen& seen : history.nodes) end = std::max(end, seen.at);
  for (const PodSeen& seen : history.pods) end = std::max(end, seen.at);
  for (const ProcessSeen& seen : history.processes) {
    end = std::max(end, seen.ended.value_or(seen.began));
  }
  return end;
}

Timeline outage_timeline(const History& history, const DemoSetup& setup) {
  Timeline timeline;
  timeline.to = history.when(DemoEvent::sites_open).value_or(end_of(history));
  timeline.marks = marks_between(history, DemoTime::zero(), timeline.to);
  std::erase_if(timeline.marks,
                [](const Mark& mark) { return mark.event == DemoEvent::sites_open; });
  const auto cut = history.when(DemoEvent::cut);
  const DemoTime restored = history.when(DemoEvent::restored).value_or(timeline.to);
  for (const std::string& node : setup.nodes()) {
    timeline.tracks.push_back(link_track(history, node));
    timeline.tracks.push_back(ready_track(history, node));
    timeline.tracks.push_back(taint_track(history, node));
    for (const PodSeen& pod : pods_of(history, node)) {
      timeline.tracks.push_back(pod_track(history, pod));
    }
    if (cut && hit(history, DemoEvent::cut, node)) {
      timeline.shades.push_back({node, *cut, restored, "the link of " + node + " is cut"});
    }
  }
  crop(timeline.tracks, timeline.from, timeline.to);
  return timeline;
}

Timeline sites_timeline(const History& history, const DemoSetup& setup) {
  Timeline timeline;
  const auto begin = history.when(DemoEvent::sites_open);
  if (!begin) return timeline;
  timeline.from = *begin;
  timeline.to = end_of(history);
  timeline.marks = marks_between(history, timeline.from, timeline.to);
  add_site(timeline, history, setup, setup.first_site, DemoEvent::site_cut);
  add_site(timeline, history, setup, setup.other_site, DemoEvent::all_cut);
  crop(timeline.tracks, timeline.from, timeline.to);
  return timeline;
}

}  // namespace holdfast::agent::demo
