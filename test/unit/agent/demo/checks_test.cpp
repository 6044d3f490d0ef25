// Each check passes for a good run, and fails for a run with the one fault that it must detect.

#include "agent/lab/demo/checks.h"

#include <algorithm>
#include <functional>

#include "platform/check.h"
#include "test/unit/agent/demo/good_run.h"

namespace holdfast::agent::demo {
namespace {

using Check = CheckResult (*)(const History&, const DemoSetup&);

TEST(DemoChecks, AGoodRunHoldsEveryPromise) {
  std::vector<CheckResult> broken = run_checks(good_run(), good_setup());
  EXPECT_EQ(broken.size(), 17u);
  std::erase_if(broken, [](const CheckResult& result) { return result.held; });
  EXPECT_EQ(broken, std::vector<CheckResult>());
}

TEST(DemoChecks, ARunThatSawNothingHoldsNone) {
  std::vector<std::string> held;
  for (const CheckResult& result : run_checks(History(), good_setup())) {
    if (result.held) held.push_back(result.promise);
  }
  EXPECT_EQ(held,
            std::vector<std::string>{"Every program ends in order, and nothing is left running"});
}

struct Spoiled {
  std::string name;
  Check check;
  std::function<void(History&)> spoil;
  std::string detail;  // the result's detail for this fault
};

class DemoChecksSpoiled : public testing::TestWithParam<Spoiled> {};

TEST_P(DemoChecksSpoiled, IsNoticed) {
  History history = good_run();
  GetParam().spoil(history);
  const CheckResult result = GetParam().check(history, good_setup());
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.detail, GetParam().detail);
}

PodSeen last_of(const History& history, const std::string& uid) {
  PodSeen last;
  for (const PodSeen& pod : history.pods) {
    if (pod.uid == uid) last = pod;
  }
  return last;
}

// The pod's next state, at `when`.
PodSeen then(const History& history, const std::string& uid, int when) {
  PodSeen pod = last_of(history, uid);
  pod.at = at(when);
  return pod;
}

NodeSeen& node_seen(History& history, const std::string& name, int when) {
  const auto found = std::find_if(
      history.nodes.begin(), history.nodes.end(),
      [&name, when](const NodeSeen& seen) { return seen.name == name && seen.at == at(when); });
  CHECK(found != history.nodes.end());
  return *found;
}

PodSeen& pod_seen(History& history, const std::string& uid, int when) {
  const auto found = std::find_if(
      history.pods.begin(), history.pods.end(),
      [&uid, when](const PodSeen& seen) { return seen.uid == uid && seen.at == at(when); });
  CHECK(found != history.pods.end());
  return *found;
}

const Spoiled spoiled[] = {
    {"a_kept_pod_is_deleted", check_pods_kept,
     [](History& history) {
       PodSeen pod = then(history, "a2", 20);
       pod.deleting = true;
       history.pods.push_back(pod);
     },
     "web-a2 was deleted at 20.0 s"},
    {"a_kept_pod_is_restarted", check_pods_kept,
     [](History& history) {
       PodSeen pod = then(history, "a2", 20);
       pod.restarts = 1;
       history.pods.push_back(pod);
     },
     "web-a2 was restarted"},
    {"a_kept_process_ends", check_pods_kept,
     [](History& history) { history.processes[1].ended = at(25); }, "process 12 ended at 25.0 s"},
    {"even_the_killed_pod_may_not_be_deleted", check_pods_kept,
     [](History& history) {
       PodSeen pod = then(history, "a1", 36);
       pod.gone = true;
       history.pods.push_back(pod);
     },
     "web-a1 was deleted at 36.0 s"},
    {"no_process_was_seen", check_pods_kept, [](History& history) { history.processes.clear(); },
     "no process was seen there"},
    {"the_killed_pod_stays_dead", check_killed_pod_back,
     [](History& history) { history.processes.erase(history.processes.begin() + 4); },
     "it ended 1 times; before the link was restored it was not started again"},
    {"the_killed_pod_waits_for_the_link", check_killed_pod_back,
     [](History& history) { history.processes[4].began = at(31); },
     "it ended 1 times; before the link was restored it was not started again"},
    {"the_connected_node_is_disturbed", check_connected_undisturbed,
     [](History& history) { history.processes[3].ended = at(11); }, "process 14 ended at 11.0 s"},
    {"the_autonomous_node_is_to_evict", check_autonomous_marked_unknown,
     [](History& history) {
       history.nodes.push_back(
           {at(18), "edge-a", "Unknown", {"node.kubernetes.io/unreachable:NoExecute"}});
     },
     "it had the taint node.kubernetes.io/unreachable:NoExecute"},
    {"the_outage_is_not_shown", check_autonomous_marked_unknown,
     [](History& history) {
       std::erase_if(history.nodes, [](const NodeSeen& node) { return node.ready == "Unknown"; });
     },
     "it was never shown Unknown with a NoSchedule taint"},
    {"nobody_is_evicted", check_evicted_and_replaced,
     [](History& history) {
       for (PodSeen& pod : history.pods) pod.deleting = false;
     },
     "web-b1 was not evicted"},
    {"nothing_replaces_the_evicted", check_evicted_and_replaced,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) { return pod.uid == "c2"; });
     },
     "0 new pods for 1"},
    {"the_replacement_is_late", check_evicted_and_replaced,
     [](History& history) {
       for (PodSeen& pod : history.pods) {
         if (pod.uid == "c2") pod.at = at(45);
       }
     },
     "it took 35.0 s"},
    {"a_stale_copy_runs_on", check_stale_copies_stop,
     [](History& history) { history.processes[2].ended = std::nullopt; },
     "process 13 still ran at the end"},
    {"a_stale_copy_is_stopped_by_the_outage", check_stale_copies_stop,
     [](History& history) { history.processes[2].ended = at(20); },
     "process 13 ended before it should"},
    {"a_stale_pod_stays", check_stale_copies_stop,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) { return pod.gone; });
     },
     "web-b1 is still there"},
    {"an_incomplete_list_is_empty", check_no_empty_answers,
     [](History& history) { history.answers[0].status = 200; },
     "edge-a /nothing answered 200 without the list"},
    {"an_incomplete_list_is_not_found", check_no_empty_answers,
     [](History& history) { history.answers[0].status = 404; },
     "edge-a /nothing answered 404 for what it never saw"},
    {"pods_are_missing", check_no_empty_answers,
     [](History& history) { history.answers[1].items = 0; },
     "edge-a /api/v1/pods answered 0 of 2 pods"},
    {"a_node_was_never_asked", check_no_empty_answers,
     [](History& history) { history.answers[4].status = 0; },
     "edge-c was never asked for what it cannot know"},
    {"a_lease_stands_still", check_leases_grow,
     [](History& history) { history.leases[1].renewed = history.leases[0].renewed; },
     "edge-a: 1970-01-01T00:00:01.000000Z after 1970-01-01T00:00:01.000000Z"},
    {"a_lease_is_never_renewed", check_leases_grow,
     [](History& history) { history.leases.pop_back(); }, "edge-c renewed its lease 1 times"},
    {"a_version_goes_back", check_versions_grow,
     [](History& history) { history.versions[1].version = 9; },
     "edge-a /api/v1/pods saw 9 after 10"},
    {"nobody_watched", check_versions_grow, [](History& history) { history.versions.resize(4); },
     "no client watched through edge-c"},
    {"a_write_has_no_outcome", check_journal, [](History& history) { history.journal.pop_back(); },
     "edge-a: write 7 was accepted 1 times and ended 0 times"},
    {"a_write_is_applied_twice", check_journal,
     [](History& history) { history.journal.push_back(history.journal.back()); },
     "edge-a: write 7 was accepted 1 times and ended 2 times"},
    {"nothing_was_journalled", check_journal, [](History& history) { history.journal.clear(); },
     "edge-a has journalled no write during the outage"},
    {"a_node_stays_tainted", check_recovered,
     [](History& history) {
       history.nodes.push_back({at(39), "edge-b", "True", {"a:NoSchedule"}});
     },
     "edge-b is tainted"},
    {"a_write_waits_for_ever", check_recovered,
     [](History& history) { history.links.back().outbox = 1; }, "edge-a has unsent writes"},
    {"a_replica_is_missing", check_recovered,
     [](History& history) { history.replicas.back().ready = 3; }, "3 of 4 replicas are ready"},
    {"the_protected_pod_must_leave", check_preemption,
     [](History& history) {
       PodSeen pod = then(history, "guarded", 41);
       pod.at += std::chrono::milliseconds(200);
       pod.deleting = true;
       const auto later = std::find_if(history.pods.begin(), history.pods.end(),
                                       [&pod](const PodSeen& seen) { return seen.at > pod.at; });
       history.pods.insert(later, pod);
     },
     "guarded had to leave"},
    {"a_victim_is_missing", check_preemption,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) {
         return pod.name == "batch-2" && (pod.deleting || pod.gone);
       });
     },
     "1 pod had to leave"},
    {"nothing_was_promised", check_preemption,
     [](History& history) {
       for (PodSeen& pod : history.pods) pod.nominated.clear();
     },
     "it was never nominated to edge-c"},
    {"the_important_pod_does_not_run", check_preemption,
     [](History& history) {
       std::erase_if(history.pods,
                     [](const PodSeen& pod) { return pod.name == "vip" && pod.ready; });
     },
     "it never ran there"},
    {"nobody_was_protected", check_preemption,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) { return pod.name == "guarded"; });
     },
     "no protected pod was there"},
    {"a_victim_does_not_run_again", check_victims_elsewhere,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) { return pod.name == "batch-4"; });
     },
     "1 new pods for 2"},
    {"a_victim_comes_back", check_victims_elsewhere,
     [](History& history) {
       for (PodSeen& pod : history.pods) {
         if (pod.name == "batch-4") pod.node = "edge-c";
       }
     },
     "batch-4 came back to edge-c"},
    {"a_site_is_evicted_at_once", check_site_evicted_slowly,
     [](History& history) { node_seen(history, "south-2", 53).at = at(52); },
     "a node was tainted too early: 52.0 s"},
    {"a_pod_is_not_tolerated_long_enough", check_site_evicted_slowly,
     [](History& history) { pod_seen(history, "app-south-1", 53).at = at(52); },
     "web-app-south-1 was evicted too early"},
    {"the_site_is_not_evicted", check_site_evicted_slowly,
     [](History& history) { node_seen(history, "south-2", 53).taints.clear(); },
     "1 nodes were tainted"},
    {"no_pod_of_the_site_is_evicted", check_site_evicted_slowly,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) { return pod.at > at(43); });
     },
     "no pod was evicted"},
    {"a_pod_is_evicted_in_the_dark", check_total_outage_evicts_nothing,
     [](History& history) {
       PodSeen pod = then(history, "app-south-3", 62);
       pod.deleting = true;
       history.pods.push_back(pod);
     },
     "web-app-south-3 was evicted after all links were cut"},
    {"the_other_site_is_evicted", check_total_outage_evicts_nothing,
     [](History& history) {
       PodSeen pod = then(history, "app-north-2", 58);
       pod.deleting = true;
       history.pods.push_back(pod);
     },
     "web-app-north-2 was evicted"},
    {"nobody_is_left_to_be_spared", check_total_outage_evicts_nothing,
     [](History& history) {
       std::erase_if(history.pods, [](const PodSeen& pod) {
         return pod.node.starts_with("north") || pod.node == "south-3";
       });
     },
     "no pod was left to keep"},
    {"a_site_stays_tainted", check_sites_recovered,
     [](History& history) { node_seen(history, "north-3", 68).taints = {"a:NoSchedule"}; },
     "north-3 is tainted"},
    {"a_site_stays_silent", check_sites_recovered,
     [](History& history) { node_seen(history, "south-2", 68).ready = "Unknown"; },
     "south-2 is not Ready"},
    {"an_agent_crashes_at_its_end", check_cleanup,
     [](History& history) { history.abnormal_exits = {"edge-a ended by signal 6"}; },
     "edge-a ended by signal 6"},
    {"a_process_is_left", check_cleanup, [](History& history) { history.left_running = {4711}; },
     "process 4711 is still there"},
};

INSTANTIATE_TEST_SUITE_P(Runs, DemoChecksSpoiled, testing::ValuesIn(spoiled),
                         [](const auto& row) { return row.param.name; });

TEST(DemoChecks, AVersionMayGoBackWithARelist) {
  History history = good_run();
  history.versions.push_back({at(20), "edge-a /api/v1/pods", true, 5});
  const CheckResult result = check_versions_grow(history, good_setup());
  EXPECT_TRUE(result.held);
  EXPECT_EQ(result.detail, "7 versions seen by 3 clients, 1 relists, 410 was answered 0 times");
}

}  // namespace
}  // namespace holdfast::agent::demo
