// What commands have done to the nodes, as far as the live view shows it: which way a link is cut,
// its quality, and which processes are paused. No I/O.

#pragma once

#include <map>
#include <set>
#include <string>

#include "agent/lab/scenario/scenario.h"
#include "agent/lab/up/request.h"
#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

// The state of a node's link and power, as the cluster has it.
struct NodeState {
  std::string_view link = {};  // "cut", "degraded", ""
  bool is_powered = true;
  std::string_view profile = {};  // the usual quality of its link: "4g"
};

class NodeMarks {
 public:
  // Notes an event that has begun or ended. Its target is a node.
  void note(Verb verb, const ScenarioEvent& event);

  // The cell of the link: "up", "cut", "cut up", "4g", "off".
  [[nodiscard]] Shown link_of(const std::string& node, const NodeState& state) const;

  // "edge paused", "node-agent paused", or "".
  [[nodiscard]] std::string paused_on(const std::string& node) const;

 private:
  struct Marks {
    Direction cut = Direction::both;
    std::string quality;
    std::set<Process> paused;
  };
  std::map<std::string, Marks> nodes_;
};

}  // namespace holdfast::agent::lab::up
