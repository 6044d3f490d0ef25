// The checks of a demo run: each one tests one promise against the recorded history.
// Pure. A check fails if the history has no data for it, because a demo that observed nothing has
// shown nothing.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/history.h"

namespace holdfast::agent::demo {

// The names and numbers of the demo: which node has which role.
struct DemoSetup {
  std::string autonomous = "edge-a";  // cut, with the autonomy annotation
  std::string ordinary = "edge-b";    // cut, without it
  std::string connected = "edge-c";   // never cut
  int replicas = 6;
  Duration eviction_deadline = std::chrono::seconds(30);  // from the cut to the new pods
  std::string killed_pod = {};                            // uid; set by the script

  // The preemption part on the connected node: names of pods, `lesser` of a Deployment.
  std::string important = "vip";
  std::string guarded = "guarded";  // by a disruption budget
  std::string lesser = "batch";
  int lesser_replicas = 2;

  // The second act, with two sites.
  std::string first_site = "south";  // cut first
  std::string other_site = "north";
  int site_nodes = 6;
  double eviction_rate = 0.5;                        // nodes per second
  Duration site_patience = std::chrono::seconds(2);  // tolerationSeconds of the pods

  [[nodiscard]] std::vector<std::string> nodes() const { return {autonomous, ordinary, connected}; }
  [[nodiscard]] std::vector<std::string> sites() const { return {first_site, other_site}; }
  // "south-1", "south-2", ...
  [[nodiscard]] std::vector<std::string> nodes_of(const std::string& site) const;
  [[nodiscard]] std::vector<std::string> nodes_of_both() const;
};

struct CheckResult {
  std::string promise = {};
  bool held = false;
  std::string detail = {};  // what was counted, or what went wrong

  bool operator==(const CheckResult&) const = default;
};

[[nodiscard]] CheckResult check_pods_kept(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_killed_pod_back(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_connected_undisturbed(const History& history,
                                                      const DemoSetup& setup);
[[nodiscard]] CheckResult check_autonomous_marked_unknown(const History& history,
                                                          const DemoSetup& setup);
[[nodiscard]] CheckResult check_evicted_and_replaced(const History& history,
                                                     const DemoSetup& setup);
[[nodiscard]] CheckResult check_stale_copies_stop(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_no_empty_answers(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_leases_grow(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_versions_grow(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_journal(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_recovered(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_cleanup(const History& history, const DemoSetup& setup);

// The preemption part.
[[nodiscard]] CheckResult check_preemption(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_victims_elsewhere(const History& history, const DemoSetup& setup);

// The second act.
[[nodiscard]] CheckResult check_site_evicted_slowly(const History& history, const DemoSetup& setup);
[[nodiscard]] CheckResult check_total_outage_evicts_nothing(const History& history,
                                                            const DemoSetup& setup);
[[nodiscard]] CheckResult check_sites_recovered(const History& history, const DemoSetup& setup);

// The results of all checks, in the order of the report.
[[nodiscard]] std::vector<CheckResult> run_checks(const History& history, const DemoSetup& setup);

}  // namespace holdfast::agent::demo
