// From the history to what is drawn: for each row of the timeline its stretches of time, each with
// what it shows. Pure; knows no pixels.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"

namespace holdfast::demo {

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

// When the last thing was seen.
[[nodiscard]] At end_of(const History& history);

// Three rows for each node (link, Ready, taints), then one for each pod that was on it.
[[nodiscard]] std::vector<Track> tracks_of(const History& history, const Cast& cast);

}  // namespace holdfast::demo
