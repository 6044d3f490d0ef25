// A cluster in memory that is run by one Controller in virtual time. Each effect is performed and
// delivered at once, and logged with its time in seconds.

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

  // Advances the time to `at`, with the lease renewals of all nodes that are not silent. Returns
  // the effects since the last call ("45 status a ..."), except the events RegisteredNode.
  Lines run_until(Duration at);

  // Adds a Ready node that renews its lease every 10 s.
  void add_node(const std::string& name);
  // Stops the node's lease renewals.
  void silence(const std::string& name) { living_.erase(name); }
  // The node posts Ready again and continues to renew its lease.
  void revive(const std::string& name);
  void annotate(const std::string& node, std::string_view key, std::string_view value);
  void relabel(const std::string& node, std::string_view key, std::string_view value);
  void remove_node(const std::string& name);
  void set_node(const Node& node);

  // A pod without tolerations is evicted at once when its node is tainted.
  void add_pod(const std::string& name, const std::string& node,
               const std::vector<Toleration>& tolerations);
  // The kubelet reports the pod as Ready.
  void report_ready(const std::string& pod);
  // Tolerations of not-ready and unreachable for `seconds`, or for ever.
  [[nodiscard]] static std::vector<Toleration> default_tolerations(
      std::optional<std::int64_t> seconds);

  // The next `times` effects whose line begins with `start` fail.
  void fail(std::string start, Errc error, int times);

  // Replaces the controller by a new one, to which all objects are delivered.
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
