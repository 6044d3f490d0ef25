// What is known of the running cluster, and the view of it. No I/O.

#pragma once

#include <map>
#include <string>

#include "agent/lab/scenario/scenario.h"
#include "agent/lab/up/view.h"
#include "sync/lifecycle/options.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"

namespace holdfast::agent::lab::up {

// What the edge agent of a node says about itself.
struct AgentSeen {
  bool answers = false;
  std::string link = {};  // "connected", "suspect", "offline", "rejoining"
  std::int64_t unsent = -1;
  bool operator==(const AgentSeen&) const = default;
};

struct LeaseSeen {
  std::string renewed = {};  // renewTime, only to see that it changes
  MonoTime at{};             // when we saw it change
};

// A node of the fleet.
struct Member {
  std::string name = {};
  std::string site = {};  // empty: the node does not belong to the fleet
  bool has_agent = true;  // holdfast-edge
};

struct Observed {
  std::vector<Member> members;                // in the order of the view
  std::map<std::string, Shown> links;         // by node
  std::map<std::string, std::string> paused;  // by node: "edge paused"
  std::map<std::string, AgentSeen> agents;    // by node
  std::map<std::string, LeaseSeen> leases;    // by node
  std::map<std::string, sync::Node> nodes;    // by name
  std::map<std::string, sync::Pod> pods;      // by namespace/name
};

struct Moment {
  MonoTime mono{};
  WallTime wall{};
};

// The nodes of all sites, in the order of the scenario.
[[nodiscard]] std::vector<Member> members_of(const Scenario& scenario);

// The view's nodes, pods and upcoming evictions. `rules` are those of the cloud controller.
[[nodiscard]] View view_of(const Observed& observed, const sync::lifecycle::Options& rules,
                           Moment now);

}  // namespace holdfast::agent::lab::up
