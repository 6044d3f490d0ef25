// The rows of the live view, before they are laid out. Pure. Private to this folder.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

struct Row {
  std::vector<Shown> cells = {};
  bool in_trouble = false;  // shown rather than others if there is no room for all
};

struct Section {
  std::vector<Shown> heading = {};
  std::vector<Row> rows = {};  // at least one
  bool keeps_last = false;     // without room for all, the last rows are shown
};

// The first line, and how to use the cluster.
[[nodiscard]] std::vector<Shown> title_of(const View& view);
[[nodiscard]] std::string hint_of(const View& view);

// Nodes, pods, what is upcoming, and the last events.
[[nodiscard]] std::vector<Section> sections_of(const View& view);

}  // namespace holdfast::agent::lab::up
