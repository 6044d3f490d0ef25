// A Controller for tests, with one function for each kind of input that returns the step's effects.

#pragma once

#include <string>
#include <utility>

#include "sync/lifecycle/controller.h"

namespace holdfast::sync::lifecycle {

class SteppedController {
 public:
  explicit SteppedController(const Options& options, const EnabledControllers& enabled = {})
      : machine_(options, enabled) {}

  Effects set_node(MonoTime now, WallTime wall, const Node& node) {
    return step(now, wall, Changed<Node>{node});
  }
  Effects remove_node(const std::string& name) { return step(last_, {}, Removed<Node>{"", name}); }
  Effects set_pod(MonoTime now, WallTime wall, const Pod& pod) {
    return step(now, wall, Changed<Pod>{pod});
  }
  Effects remove_pod(const std::string& namespace_name, const std::string& name) {
    return step(last_, {}, Removed<Pod>{namespace_name, name});
  }
  void set_lease(MonoTime now, const Lease& lease) { (void)step(now, {}, Changed<Lease>{lease}); }
  void remove_lease(const std::string& name) { (void)step(last_, {}, Removed<Lease>{"", name}); }
  Effects tick(MonoTime now, WallTime wall) { return step(now, wall, TimePassed{}); }
  Effects settle(MonoTime now, WallTime wall, const Effect& effect, const Outcome& outcome) {
    return step(now, wall, Performed{effect, outcome});
  }
  void restore_contact(MonoTime now) { (void)step(now, {}, ContactRestored{}); }

  // The deadline of the last step.
  [[nodiscard]] MonoTime next() const { return deadline_; }
  [[nodiscard]] const Controller& machine() const { return machine_; }

 private:
  Effects step(MonoTime now, WallTime wall, const Controller::Input& input) {
    auto made = machine_.step({now, wall}, input);
    machine_.check_invariants();
    last_ = now;
    deadline_ = made.deadline;
    return std::move(made.effects);
  }

  Controller machine_;
  MonoTime last_{};
  MonoTime deadline_ = MonoTime::min();
};

}  // namespace holdfast::sync::lifecycle
