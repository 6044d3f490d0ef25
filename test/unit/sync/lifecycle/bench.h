// A cluster in memory under one Controller, in virtual time: what is wanted is done at once, seen
// at once, and written down with its second.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/unit/sync/lifecycle/describe.h"
#include "test/unit/sync/lifecycle/stepped.h"

namespace holdfast::sync::lifecycle {

class Bench {
 public:
  using Lines = std::vector<std::string>;

  explicit Bench(const Options& options, const EnabledControllers& parts = {});

  // Lets time pass, heartbeats of the living included, and returns what was done: "45 status a
  // ...". Registration is left out.
  Lines run_until(Duration at);

  // Adds a Ready node that beats by lease every 10 s from now on.
  void add_node(const std::string& name);
  void silence(const std::string& name) { living_.erase(name); }
  // It posts Ready again and goes on beating.
  void revive(const std::string& name);
  void annotate(const std::string& node, std::string_view key, std::string_view value);
  void relabel(const std::string& node, std::string_view key, std::string_view value);
  void remove_node(const std::string& name);
  void set_node(const Node& node);

  // Tolerates both own taints for `seconds`, or for ever; a pod with none goes at once.
  void add_pod(const std::string& name, const std::string& node,
               const std::vector<Toleration>& tolerations);
  [[nodiscard]] static std::vector<Toleration> default_tolerations(
      std::optional<std::int64_t> seconds);

  // The next `times` effects whose line starts so fail.
  void fail(std::string start, Errc error, int times);

  // The controller starts again and sees everything as new.
  void restart();
  void restore_contact() { controller_->restore_contact(now_); }

  [[nodiscard]] const Node& node(const std::string& name) const { return nodes_.at(name); }
  [[nodiscard]] bool has_pod(const std::string& name) const { return pods_.contains(name); }
  [[nodiscard]] const Controller& controller() const { return controller_->machine(); }

 private:
  struct Fault {
    std::string start;
    Errc error;
    int left;
  };

  [[nodiscard]] WallTime wall() const { return test_epoch + now_.time_since_epoch(); }
  void beat();
  void perform(Effects effects);
  Outcome perform_one(const Effect& effect, const std::string& line);
  void apply(const Effect& effect);
  void remove_pod(const PodRef& pod);
  void deliver_node(const Node& node);

  Options options_;
  EnabledControllers enabled_;
  std::unique_ptr<SteppedController> controller_;
  MonoTime now_{};
  MonoTime next_beat_{};
  std::map<std::string, Node> nodes_;
  std::map<std::string, Pod> pods_;
  std::set<std::string> living_;
  std::vector<Fault> faults_;
  Lines log_;
};

}  // namespace holdfast::sync::lifecycle
