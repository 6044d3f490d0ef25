// What happened in a scenario: written by `sim` and `run`, read by the terminal table, the JSON
// output, the HTML report and `compare`. Plain values.
//
// Times count from the scenario's start.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::agent::lab {

// A state that lasted from `begin` to `end`.
struct Span {
  Duration begin{};
  Duration end{};
  std::string state;
  bool operator==(const Span&) const = default;
};

struct NodeResult {
  std::string name;
  std::string site;
  std::vector<Span> link;      // "cut", "degraded"; nothing: up
  std::vector<Span> power;     // "off"; nothing: on
  std::vector<Span> ready;     // in the API: "True", "False", "Unknown"
  std::vector<Span> taints;    // "unreachable", "not-ready" (NoExecute)
  std::vector<Span> withheld;  // evictions are withheld; the state is the reason
  std::uint64_t bytes = 0;     // over its link, in both directions
  bool operator==(const NodeResult&) const = default;
};

struct PodResult {
  std::string name;  // namespace/name
  std::string uid;
  std::string workload;  // "deployment/web"
  std::string node;
  std::string site;
  Duration created{};
  std::optional<Duration> evicted;  // the lifecycle controller deleted it
  std::optional<Duration> deleted;  // it is gone from the API
  int restarts = 0;
  std::vector<Span> running;  // on the node, whatever the API says: "starting", "ready", "stopping"
  bool operator==(const PodResult&) const = default;
};

struct WorkloadResult {
  std::string name;  // "deployment/web"
  std::string site;  // where it must run; empty: anywhere
  int wanted = 0;
  int evicted = 0;
  int restarted = 0;
  Duration unavailable{};       // fewer pods than wanted were ready, measured on the nodes
  std::vector<Span> shortfall;  // when; the state is the number of missing pods
  bool operator==(const WorkloadResult&) const = default;
};

// The requests of a class: "lease", "node status", "pod status", "list", "watch", "event", "taint",
// "delete", "bind", "other".
struct RequestClass {
  std::string name;
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  bool operator==(const RequestClass&) const = default;
};

// Values of consecutive intervals of equal length.
struct Series {
  std::string name;  // "evictions", "requests", "bytes", "nodes unknown"
  Duration interval{};
  std::vector<double> values;
  bool operator==(const Series&) const = default;
};

// What the scenario did: "cut a", "heal a".
struct FaultMark {
  Duration at{};
  std::optional<Duration> until;
  std::string what;
  std::string target;
  bool operator==(const FaultMark&) const = default;
};

struct ExpectationResult {
  std::string text;
  bool met = false;
  std::string found;  // "2 restarts: web-7d9f-x2x4q at 10:31, ..."
  bool operator==(const ExpectationResult&) const = default;
};

// An invariant that was violated; the run ends there.
struct Violation {
  Duration at{};
  std::string invariant;
  std::string what;
  std::vector<std::string> last_events;  // at most 50
  bool operator==(const Violation&) const = default;
};

struct RunResult {
  std::string scenario;
  std::string about;
  std::string mode;  // "sim" or "run"
  std::uint64_t seed = 0;
  Duration duration{};
  std::map<std::string, std::string> settings;  // "cloud.node-monitor-grace-period": "40s"
  std::vector<NodeResult> nodes;
  std::vector<PodResult> pods;
  std::vector<WorkloadResult> workloads;
  std::vector<RequestClass> requests;
  std::uint64_t requests_per_second = 0;  // the most that arrived within one second
  std::vector<Series> series;
  std::vector<FaultMark> faults;
  std::vector<ExpectationResult> expectations;
  std::optional<Violation> violation;
  std::uint64_t events = 0;      // processed by the simulator
  std::uint64_t duplicates = 0;  // times at which two pods of one StatefulSet ordinal ran
  bool operator==(const RunResult&) const = default;
};

}  // namespace holdfast::agent::lab
