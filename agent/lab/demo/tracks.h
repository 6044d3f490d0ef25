// Turns the history into the rows of the timeline: for each act its tracks, and for each track its
// stretches of time. Pure; timeline.cpp draws them.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"

namespace holdfast::agent::demo {

struct Stretch {
  At from{};
  At to{};
  std::string look = {};   // CSS class: "link-offline"
  std::string label = {};  // drawn inside if it fits
  std::string hint = {};   // shown on hover

  bool operator==(const Stretch&) const = default;
};

struct Track {
  std::string name = {};     // shown to the left of the row
  std::string heading = {};  // not empty: begins a group with this name
  bool thick = false;
  std::vector<Stretch> stretches = {};

  bool operator==(const Track&) const = default;
};

// A time without a link, shaded behind all rows of a group.
struct Shade {
  std::string heading = {};  // of the group
  At from{};
  At to{};
  std::string hint = {};

  bool operator==(const Shade&) const = default;
};

// An act, ready to be drawn.
struct Picture {
  At from{};
  At to{};
  std::vector<Mark> marks = {};
  std::vector<Track> tracks = {};
  std::vector<Shade> shades = {};
};

// The time of the last observation.
[[nodiscard]] At end_of(const History& history);

// The first act. Three rows for each node (link, Ready, taints), then one for each pod that was on
// it.
[[nodiscard]] Picture outage_picture(const History& history, const Cast& cast);

// The second one: a row for each node. Without tracks when it was not played.
[[nodiscard]] Picture sites_picture(const History& history, const Cast& cast);

}  // namespace holdfast::agent::demo
