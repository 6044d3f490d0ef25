// Removal of nodes that are gone at whoever provides the machines.
//
// As upstream's cloud node lifecycle controller: only nodes that are not ready are asked about, and
// one that does not exist any more is deleted, with an event. No answer means nothing. Questions
// are few: ProviderLimits. Those that wait longest come first. No clock, no I/O.

#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "sync/lifecycle/effects.h"

namespace holdfast::sync::lifecycle {

struct ProviderLimits {
  Duration period = std::chrono::seconds(30);  // between two questions about one node
  std::size_t per_pass = 10;                   // questions a pass
};

class ProviderCheck {
 public:
  explicit ProviderCheck(const ProviderLimits& limits = {}) : limits_(limits) {}

  void set_node(MonoTime now, const NodeFacts& node);
  void remove_node(const std::string& node);

  // What to ask now. To be called every monitor period.
  [[nodiscard]] Effects pass(MonoTime now);

  // How AskProvider or DeleteNode went; others are ignored.
  [[nodiscard]] Effects settle(MonoTime now, const Effect& effect, const Outcome& outcome);

  // Nodes that are asked about.
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

 private:
  struct Suspect {
    std::string uid;
    std::string provider_id;
    MonoTime next = MonoTime::max();  // max: a question or deletion is under way
  };

  void ask_again(MonoTime now, const std::string& node, Suspect& suspect);

  ProviderLimits limits_;
  std::map<std::string, Suspect> nodes_;
  std::set<std::pair<MonoTime, std::string>> turns_;
};

}  // namespace holdfast::sync::lifecycle
