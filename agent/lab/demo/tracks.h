// From the history to what is drawn: for each act its rows, and for each row its stretches of time
// with what they show. Pure; knows no pixels.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"

namespace holdfast::agent::demo {

struct Stretch {
  At from{};
  At to{};
  std::string look = {};   // a class of the style sheet: "link-offline"
  std::string label = {};  // drawn inside where there is room
  std::string hint = {};   // said on hover

  bool operator==(const Stretch&) const = default;
};

struct Track {
  std::string name = {};     // at the left
  std::string heading = {};  // begins a group: the node's name
  bool thick = false;
  std::vector<Stretch> stretches = {};

  bool operator==(const Track&) const = default;
};

// A time in which something is broken, behind all rows of a group.
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

// When the last thing was seen.
[[nodiscard]] At end_of(const History& history);

// The first act. Three rows for each node (link, Ready, taints), then one for each pod that was on
// it.
[[nodiscard]] Picture outage_picture(const History& history, const Cast& cast);

// The second one: a row for each node. Without tracks when it was not played.
[[nodiscard]] Picture sites_picture(const History& history, const Cast& cast);

}  // namespace holdfast::agent::demo
