// Turns the history into the rows of the timeline: for each act its tracks, and for each track its
// segments of time. Pure; timeline.cpp draws them.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"

namespace holdfast::agent::demo {

struct Segment {
  DemoTime from{};
  DemoTime to{};
  std::string look = {};   // CSS class: "link-offline"
  std::string label = {};  // drawn inside if it fits
  std::string hint = {};   // shown on hover

  bool operator==(const Segment&) const = default;
};

struct Track {
  std::string name = {};     // shown to the left of the row
  std::string heading = {};  // not empty: begins a group with this name
  bool thick = false;
  std::vector<Segment> segments = {};

  bool operator==(const Track&) const = default;
};

// A time without a link, shaded behind all rows of a group.
struct Shade {
  std::string heading = {};  // of the group
  DemoTime from{};
  DemoTime to{};
  std::string hint = {};

  bool operator==(const Shade&) const = default;
};

// An act, ready to be drawn.
struct Timeline {
  DemoTime from{};
  DemoTime to{};
  std::vector<Mark> marks = {};
  std::vector<Track> tracks = {};
  std::vector<Shade> shades = {};
};

// The time of the last observation.
[[nodiscard]] DemoTime end_of(const History& history);

// The first act. Three rows for each node (link, Ready, taints), then one for each pod that was on
// it.
[[nodiscard]] Timeline outage_timeline(const History& history, const DemoSetup& setup);

// The second one: a row for each node. Without tracks when it was not played.
[[nodiscard]] Timeline sites_timeline(const History& history, const DemoSetup& setup);

}  // namespace holdfast::agent::demo
