// What the live view of `holdfast-lab up` shows, as plain values. observed.h makes it, and
// view_text.h, view_json.h and changes.h put it into words.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::agent::lab::up {

// How things stand. Each has one colour.
enum class Tone : std::uint8_t {
  plain,
  heading,  // dim
  bad,      // red: broken, unreachable or lost
  soon      // yellow: in transition, or about to happen
};

struct Shown {
  std::string text = {};
  Tone tone = Tone::plain;
  bool operator==(const Shown&) const = default;
};

struct NodeView {
  std::string name = {};
  std::string site = {};
  Shown link = {};  // "up", "cut", "cut up", "4g"
  Shown ready =
      {};  // as the API has it: "True", "False", "Unknown"; "-" if the Node does not exist
  Shown agent =
      {};  // its own opinion of its link: "connected", "offline"; "down" if it does not answer
  std::optional<Duration> lease_age = {};
  std::int64_t unsent = -1;  // entries of its outbox; below zero: not known
  int pods = 0;
  int pods_ready = 0;
  std::vector<std::string> taints = {};  // "unreachable:NoExecute"
  bool operator==(const NodeView&) const = default;
};

struct PodView {
  std::string name = {};  // "default/web-1"
  std::string uid = {};
  std::string node = {};
  Shown state = {};  // "Running", "Pending", "Terminating", ...
  bool ready = false;
  int restarts = 0;
  bool operator==(const PodView&) const = default;
};

// Something that the controller will do, or does not do yet.
struct Upcoming {
  enum class When : std::uint8_t { at, waiting, withheld };

  When when = When::at;
  Duration in{};            // with `at`
  std::string what = {};    // "evict default/web-1 from edge-1"
  std::string reason = {};  // "unreachable, tolerated for 5m0s"
  bool operator==(const Upcoming&) const = default;
};

struct EventLine {
  Duration at{};  // since the start
  std::string text = {};
  bool operator==(const EventLine&) const = default;
};

struct View {
  Duration age{};               // since the start
  std::string kubeconfig = {};  // its path
  std::string control = {};     // the address of the control interface
  std::vector<NodeView> nodes = {};
  std::vector<PodView> pods = {};
  std::vector<Upcoming> upcoming = {};
  std::vector<EventLine> events = {};  // the oldest first
  bool operator==(const View&) const = default;
};

// In whole seconds: "4m48s".
[[nodiscard]] std::string seconds_text(Duration duration);

}  // namespace holdfast::agent::lab::up
