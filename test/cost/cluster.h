// A cluster of fixed size and content under one Controller, for measuring what a change costs.

#pragma once

#include <string>

#include "sync/lifecycle/controller.h"
#include "sync/model/types.h"

namespace holdfast::cost {

class Cluster {
 public:
  // All nodes are Ready and have a lease; the pods are spread over them. Nothing is due.
  Cluster(int nodes, int pods, Duration grace = std::chrono::seconds(50));

  // The lease of one node after the other is renewed. After each round ten seconds pass, with the
  // two passes that belong to them.
  void renew();
  // One pod after the other is told of again, with another status.
  void update_pod();
  // The next pass, in which nothing is due: so the grace must be longer than all of them take.
  void pass();

  [[nodiscard]] const sync::lifecycle::Controller& rules() const { return rules_; }

 private:
  // Whether it has no effects.
  bool step(const sync::lifecycle::Controller::Input& input);
  [[nodiscard]] WallTime wall() const;

  sync::lifecycle::Controller rules_;
  int nodes_;
  int pods_;
  int next_node_ = 0;
  int next_pod_ = 0;
  MonoTime now_{std::chrono::hours(1)};
  MonoTime deadline_ = MonoTime::max();
  sync::Lease lease_;
  sync::Pod pod_;
};

// As a kubelet of an edge site posts them. Numbers below 1,000,000.
[[nodiscard]] std::string node_name(int number);
[[nodiscard]] sync::Node make_node(int number, WallTime now);
[[nodiscard]] sync::Pod make_pod(int number, const std::string& node);

}  // namespace holdfast::cost
