// Deletes nodes whose machines no longer exist at the provider.
//
// As upstream's cloud node lifecycle controller, it asks only about nodes that are not ready, and
// deletes a node, with an event, if its machine does not exist any more. A question without an
// answer is repeated later. ProviderLimits bounds the number of questions; the longest-waiting
// nodes come first. Has no clock, does no I/O.

#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "sync/lifecycle/effects.h"

namespace holdfast::sync::lifecycle {

struct ProviderLimits {
  Duration period = std::chrono::seconds(30);  // between two questions about one node
  std::size_t per_pass = 10;                   // questions per pass
};

class ProviderCheck {
 public:
  explicit ProviderCheck(const ProviderLimits& limits = {}) : limits_(limits) {}

  void set_node(MonoTime now, const NodeFacts& node);
  void remove_node(const std::string& node);

  // The questions to ask now. To be called once in every monitor period.
  [[nodiscard]] Effects pass(MonoTime now);

  // Reports the outcome of AskProvider or DeleteNode; ignores other effects.
  [[nodiscard]] Effects settle(MonoTime now, const Effect& effect, const Outcome& outcome);

  // The number of nodes about which the provider is asked.
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

 private:
  struct Suspect {
    std::string uid;
    std::string provider_id;
    MonoTime next = MonoTime::max();  // of the next question; max: an effect is in flight
  };

  void ask_again(MonoTime now, const std::string& node, Suspect& suspect);

  ProviderLimits limits_;
  std::map<std::string, Suspect> nodes_;
  std::set<std::pair<MonoTime, std::string>> turns_;
};

}  // namespace holdfast::sync::lifecycle
