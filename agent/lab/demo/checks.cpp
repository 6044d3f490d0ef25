#include "agent/lab/demo/checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/demo/cluster_snapshot.h"
#include "platform/text.h"

namespace holdfast::agent::demo {

CheckResult check_no_empty_answers(const History& history, const DemoSetup& setup) {
  CheckResult result{"An incomplete list is never answered as an empty one"};
  std::map<std::string, int> refused;
  int complete = 0;
  for (const AnswerSeen& answer : history.answers) {
    const std::string where = answer.node + " " + answer.path;
    if (answer.incomplete && answer.status >= 200 && answer.status < 300) {
      result.detail = where + " answered " + std::to_string(answer.status) + " without the list";
      return result;
    }
    if (answer.incomplete && answer.status == 404) {
      result.detail = where + " answered 404 for what it never saw";
      return result;
    }
    if (!answer.incomplete && answer.status == 200 && answer.items < answer.known) {
      result.detail = where + " answered " + std::to_string(answer.items) + " of " +
                      std::to_string(answer.known) + " pods";
      return result;
    }
    if (answer.incomplete && answer.status >= 500) ++refused[answer.node];
    if (!answer.incomplete && answer.status == 200 && answer.items > 0) ++complete;
  }
  for (const std::string& node : setup.nodes()) {
    if (refused[node] > 0) continue;
    result.detail = node + " was never asked for what it cannot know";
    return result;
  }
  int all = 0;
  for (const auto& [node, count] : refused) all += count;
  result.held = complete > 0;
  result.detail = std::to_string(all) + " lists refused with 5xx, " + std::to_string(complete) +
                  " answered in full";
  return result;
}

CheckResult check_leases_grow(const History& history, const DemoSetup& setup) {
  CheckResult result{"A lease's renewTime strictly increases"};
  std::map<std::string, LeaseSeen> last;
  std::map<std::string, int> renewals;
  for (const LeaseSeen& lease : history.leases) {
    const auto known = last.find(lease.node);
    if (known != last.end() && known->second.version == lease.version) continue;
    if (known != last.end() && lease.renewed <= known->second.renewed) {
      result.detail = lease.node + ": " + format_rfc3339(lease.renewed, TimeDigits::micros) +
                      " after " + format_rfc3339(known->second.renewed, TimeDigits::micros);
      return result;
    }
    last[lease.node] = lease;
    ++renewals[lease.node];
  }
  std::vector<std::string> parts;
  for (const std::string& node : setup.nodes()) {
    if (renewals[node] < 2) {
      result.detail = node + " renewed its lease " + std::to_string(renewals[node]) + " times";
      return result;
    }
    parts.push_back(node + " " + std::to_string(renewals[node]));
  }
  result.held = true;
  result.detail = "renewals seen: " + join(parts, ", ");
  return result;
}

CheckResult check_versions_grow(const History& history, const DemoSetup& setup) {
  CheckResult result{"No client sees a resourceVersion go back without a relist"};
  std::map<std::string, std::uint64_t> last;
  std::size_t relists = 0;
  for (const VersionSeen& seen : history.versions) {
    const auto known = last.find(seen.client);
    if (known != last.end() && !seen.relisted && seen.version < known->second) {
      result.detail = seen.client + " saw " + std::to_string(seen.version) + " after " +
                      std::to_string(known->second);
      return result;
    }
    if (known != last.end() && seen.relisted) ++relists;
    last[seen.client] = seen.version;
  }
  for (const std::string& node : setup.nodes()) {
    const bool watched = std::any_of(last.begin(), last.end(), [&node](const auto& client) {
      return client.first.starts_with(node + " ");
    });
    if (watched) continue;
    result.detail = "no client watched through " + node;
    return result;
  }
  result.held = true;
  result.detail = std::to_string(history.versions.size()) + " versions seen by " +
                  std::to_string(last.size()) + " clients, " + std::to_string(relists) +
                  " relists, 410 was answered " + std::to_string(history.gone_410.size()) +
                  " times";
  return result;
}

namespace {

struct Fate {
  int accepted = 0;
  int outcomes = 0;
};

bool is_outcome(const std::string& kind) {
  return kind.starts_with("write-") && kind != "write-accepted";
}

}  // namespace

CheckResult check_journal(const History& history, const DemoSetup& setup) {
  CheckResult result{"Every journalled write is applied once, or reported"};
  std::map<std::pair<std::string, std::int64_t>, Fate> fates;
  std::map<std::string, int> kinds;
  std::map<std::string, int> accepted;
  for (const JournalSeen& line : history.journal) {
    Fate& fate = fates[{line.node, line.entry}];
    if (line.kind == "write-accepted") ++fate.accepted, ++accepted[line.node];
    if (!is_outcome(line.kind)) continue;
    ++fate.outcomes;
    ++kinds[line.kind.substr(6)];
  }
  for (const auto& [key, fate] : fates) {
    if (key.second == 0 || (fate.accepted == 1 && fate.outcomes == 1)) continue;
    result.detail = key.first + ": write " + std::to_string(key.second) + " was accepted " +
                    std::to_string(fate.accepted) + " times and ended " +
                    std::to_string(fate.outcomes) + " times";
    return result;
  }
  if (accepted[setup.autonomous] == 0) {
    result.detail = setup.autonomous + " has journalled no write during the outage";
    return result;
  }
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [kind, count] : kinds) parts.push_back(std::to_string(count) + " " + kind);
  result.held = true;
  result.detail = join(parts, ", ");
  return result;
}

CheckResult check_recovered(const History& history, const DemoSetup& setup) {
  CheckResult result{"In the end all nodes are Ready without taints, and all outboxes are empty"};
  ClusterSnapshot snapshot;
  const DemoTime end = history.when(DemoEvent::ended).value_or(DemoTime::min());
  for (const LinkSeen& seen : history.links) {
    if (seen.at <= end) snapshot.take(seen);
  }
  for (const NodeSeen& seen : history.nodes) {
    if (seen.at <= end) snapshot.take(seen);
  }
  for (const ReplicasSeen& seen : history.replicas) {
    if (seen.at <= end) snapshot.take(seen);
  }
  for (const std::string& node : setup.nodes()) {
    const auto link = snapshot.links().find(node);
    if (snapshot.ready(node) != "True") result.detail = node + " is not Ready";
    if (snapshot.tainted(node, "")) result.detail = node + " is tainted";
    if (snapshot.link(node) != "connected") result.detail = node + " is not connected";
    if (link == snapshot.links().end() || link->second.outbox != 0) {
      result.detail = node + " has unsent writes";
    }
  }
  const int ready = snapshot.replicas().ready;
  if (ready != setup.replicas) {
    result.detail =
        std::to_string(ready) + " of " + std::to_string(setup.replicas) + " replicas are ready";
  }
  result.held = result.detail.empty();
  if (result.held) {
    result.detail =
        std::to_string(ready) + " of " + std::to_string(setup.replicas) + " replicas ready";
  }
  return result;
}

CheckResult check_cleanup(const History& history, const DemoSetup& /*setup*/) {
  CheckResult result{"Every program ends in order, and nothing is left running"};
  std::vector<std::string> wrong = history.abnormal_exits;
  for (const int pid : history.left_running) {
    wrong.push_back("process " + std::to_string(pid) + " is still there");
  }
  result.held = wrong.empty();
  result.detail = wrong.empty() ? "all processes ended and were reaped" : join(wrong, ", ");
  return result;
}

std::vector<CheckResult> run_checks(const History& history, const DemoSetup& setup) {
  return {check_pods_kept(history, setup),
          check_killed_pod_back(history, setup),
          check_connected_undisturbed(history, setup),
          check_autonomous_marked_unknown(history, setup),
          check_evicted_and_replaced(history, setup),
          check_stale_copies_stop(history, setup),
          check_no_empty_answers(history, setup),
          check_leases_grow(history, setup),
          check_versions_grow(history, setup),
          check_journal(history, setup),
          check_recovered(history, setup),
          check_preemption(history, setup),
          check_victims_elsewhere(history, setup),
          check_site_evicted_slowly(history, setup),
          check_total_outage_evicts_nothing(history, setup),
          check_sites_recovered(history, setup),
          check_cleanup(history, setup)};
}

}  // namespace holdfast::agent::demo
