// A scenario: a fleet, its workloads, the configuration under test, faults at given times, and what
// must hold. Plain values; scenario_file.h reads them from YAML, where their schema is described.
//
// Times count from the scenario's start. Sizes are in bytes, rates in bytes per second.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "platform/time.h"

namespace holdfast::agent::lab {

// One direction of a link, or both if they are alike.
struct LinkQuality {
  Duration latency{};     // one way
  Duration jitter{};      // added to the latency: uniform in [0, jitter]
  double loss = 0;        // the fraction of messages that are lost and sent again, in [0, 1)
  std::int64_t rate = 0;  // 0: unlimited
  bool operator==(const LinkQuality&) const = default;
};

// The state of a link from a time on, as a line of a recorded trace has it.
struct TracePoint {
  Duration at{};
  LinkQuality up;
  LinkQuality down;
  bool is_cut = false;
  bool operator==(const TracePoint&) const = default;
};

struct LinkProfile {
  std::string name;  // "4g", or the file of a trace
  LinkQuality up;    // from the site to the cloud
  LinkQuality down;
  std::vector<TracePoint> trace;  // in order of time; repeats after its last point if `repeats`
  bool repeats = false;
  bool operator==(const LinkProfile&) const = default;
};

enum class NodeAgent : std::uint8_t {
  holdfast,  // the kubelet's requests pass through holdfast-edge
  none       // the kubelet talks to the API server directly
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

// The nodes of a site share its link to the cloud. They are called SITE-1, SITE-2, ...
struct Site {
  std::string name;
  int nodes = 1;
  std::string zone;  // label topology.kubernetes.io/zone; the site's name if the file has none
  LinkProfile link;
  NodeAgent agent = NodeAgent::holdfast;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<Taint> taints;
  std::string cpu = "4";  // capacity, as Kubernetes quantities
  std::string memory = "4Gi";
  int pods = 110;
  bool operator==(const Site&) const = default;
};

enum class WorkloadKind : std::uint8_t { deployment, daemon_set, stateful_set, job };

struct Toleration {
  std::string key;  // empty: every key
  std::string op = "Exists";
  std::string value;
  std::string effect;  // empty: every effect
  std::optional<std::int64_t> seconds;
  bool operator==(const Toleration&) const = default;
};

struct Workload {
  WorkloadKind kind = WorkloadKind::deployment;
  std::string name;
  std::string namespace_name = "default";
  int replicas = 1;  // of a Job: completions, all at once; not used by a DaemonSet
  std::string on;    // a site: its pods run only there; empty: anywhere
  std::string cpu;   // requests of one pod, as Kubernetes quantities; empty: none
  std::string memory;
  int priority = 0;
  std::vector<Toleration> tolerations;
  std::optional<int> min_available;           // of a PodDisruptionBudget
  Duration start = std::chrono::seconds(2);   // from the start of a container until it is ready
  Duration grace = std::chrono::seconds(30);  // terminationGracePeriodSeconds
  Duration stop{};                            // how long it takes to exit after SIGTERM
  Duration run_time{};                        // of a Job's pod: it succeeds after this time
  bool is_from_manifest = false;  // `run` applies the file that has it instead of creating it
  bool operator==(const Workload&) const = default;
};

enum class Direction : std::uint8_t { both, up, down };

// What happens to requests over a link that is cut.
enum class CutKind : std::uint8_t {
  black_hole,  // nothing arrives
  refuse,      // connections are refused at once
  reset        // existing connections are reset, then it is a black hole
};

// What a fault or command applies to: "cloud", "api-server", a site, a node ("a-2"), or "all"
// (every site).
using Target = std::string;

struct Cut {  // until Heal or `duration`
  Target target;
  Direction direction = Direction::both;
  CutKind kind = CutKind::black_hole;
};
struct Heal {  // ends all cuts and degradations of the target's links
  Target target;
};
struct Flap {  // cut for `down`, healed for `up`, and so on
  Target target;
  Duration up{};
  Duration down{};
  CutKind kind = CutKind::black_hole;
};
struct Degrade {  // the link gets another quality, until Heal or `duration`
  Target target;
  LinkProfile link;
};
struct PowerLoss {  // the node stops at once and boots again after `duration`
  Target target;
};
enum class Process : std::uint8_t { kubelet, edge, node_agent, cloud, api_server };
struct Kill {  // kill -9; it starts again after `duration`, or at once if that is not given
  Process process = Process::edge;
  Target target;  // nodes; not used for cloud and api_server
};
struct Pause {  // SIGSTOP; until `duration`
  Process process = Process::edge;
  Target target;
};
struct ClockStep {  // the wall clock jumps by this, and is right again after `duration`
  Target target;
  Duration by{};
};
struct ClockDrift {  // the wall clock runs faster (above 1) or slower
  Target target;
  double rate = 1;
};
struct DiskFull {
  Target target;
};
struct Drain {  // cordon, then evict all pods but those of DaemonSets
  Target target;
};
struct Uncordon {
  Target target;
};
struct Rollout {  // the workload's template changes
  std::string workload;
};
struct Scale {
  std::string workload;
  int replicas = 0;
};
struct DeletePods {  // of a workload, as a person does with kubectl
  std::string workload;
  std::string on;  // a site or node; empty: everywhere
};
enum class ApiFault : std::uint8_t {
  unavailable,   // answers 503
  overloaded,    // answers 429 with Retry-After: 1
  silent_watch,  // watches stay open and deliver nothing
  gone,          // watches end with 410 Gone
  empty_list,    // lists of pods are empty (a captive proxy or a broken store)
  old_version,   // restored from a backup: resourceVersions run backwards
  not_api,       // a captive portal answers 200 with HTML
  bad_certificate
};
struct ApiServerFault {  // until `duration`
  ApiFault fault = ApiFault::unavailable;
};

using Action = std::variant<Cut, Heal, Flap, Degrade, PowerLoss, Kill, Pause, ClockStep, ClockDrift,
                            DiskFull, Drain, Uncordon, Rollout, Scale, DeletePods, ApiServerFault>;

struct ScenarioEvent {
  Duration at{};
  std::optional<Duration> duration;  // "for": how long it lasts; nothing: until the end, or once
  Action action;
  int line = 0;  // in the file
};

// What must hold at the end.
enum class Measure : std::uint8_t {
  restarts,     // restarts of containers, without those of pods that were started again elsewhere
  evictions,    // pods deleted by the lifecycle controller
  unavailable,  // seconds during which fewer pods than wanted were ready
  requests,     // the most requests to the API server in a second, from the first event on
  bytes,        // bytes over the links of `of`, both directions
  not_ready,    // nodes that were ever NotReady or Unknown in the API
  duplicates    // times at which two pods of one StatefulSet ordinal ran
};

struct Expectation {
  Measure measure = Measure::restarts;
  std::string of;  // a site, node or workload; empty: everything
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<Duration> within;  // counted from first_event(): `at_least` is reached by then
  std::string text;                // as written in the file
  int line = 0;
};

struct Scenario {
  std::string name;
  std::string about;
  Duration duration{};
  std::uint64_t seed = 1;
  std::vector<Site> sites;
  std::vector<Workload> workloads;
  std::vector<std::string> manifests;  // the paths of YAML files; `workloads` has theirs, too
  // What of the manifests `sim` does not model, for the user: "web.yaml:12: ...".
  std::vector<std::string> notes;
  std::map<std::string, std::string> cloud;  // flags of holdfast-cloud, without "--"
  std::map<std::string, std::string> edge;   // flags of holdfast-edge, without "--"
  std::vector<ScenarioEvent> events;         // in order of time
  std::vector<Expectation> expectations;
};

// When the first event begins, of whatever kind; the start if there is none.
[[nodiscard]] inline Duration first_event(const Scenario& scenario) {
  return scenario.events.empty() ? Duration::zero() : scenario.events.front().at;
}

}  // namespace holdfast::agent::lab
