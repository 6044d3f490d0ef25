#include "agent/lab/demo/checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/demo/scene.h"
#include "platform/text.h"

namespace holdfast::agent::demo {

CheckResult check_no_empty_answers(const History& history, const Cast& cast) {
  CheckResult verdict{"An incomplete list is never answered as an empty one"};
  std::map<std::string, int> refused;
  int complete = 0;
  for (const AnswerSeen& answer : history.answers) {
    const std::string where = answer.node + " " + answer.path;
    if (answer.incomplete && answer.status >= 200 && answer.status < 300) {
      verdict.detail = where + " answered " + std::to_string(answer.status) + " without the list";
      return verdict;
    }
    if (answer.incomplete && answer.status == 404) {
      verdict.detail = where + " answered 404 for what it never saw";
      return verdict;
    }
    if (!answer.incomplete && answer.status == 200 && answer.items < answer.known) {
      verdict.detail = where + " answered " + std::to_string(answer.items) + " of " +
                       std::to_string(answer.known) + " pods";
      return verdict;
    }
    if (answer.incomplete && answer.status >= 500) ++refused[answer.node];
    if (!answer.incomplete && answer.status == 200 && answer.items > 0) ++complete;
  }
  for (const std::string& node : cast.nodes()) {
    if (refused[node] > 0) continue;
    verdict.detail = node + " was never asked for what it cannot know";
    return verdict;
  }
  int all = 0;
  for (const auto& [node, count] : refused) all += count;
  verdict.held = complete > 0;
  verdict.detail = std::to_string(all) + " lists refused with 5xx, " + std::to_string(complete) +
                   " answered in full";
  return verdict;
}

CheckResult check_leases_grow(const History& history, const Cast& cast) {
  CheckResult verdict{"A lease's renewTime strictly increases"};
  std::map<std::string, LeaseSeen> last;
  std::map<std::string, int> renewals;
  for (const LeaseSeen& lease : history.leases) {
    const auto known = last.find(lease.node);
    if (known != last.end() && known->second.version == lease.version) continue;
    if (known != last.end() && lease.renewed <= known->second.renewed) {
      verdict.detail = lease.node + ": " + format_rfc3339(lease.renewed, TimeDigits::micros) +
                       " after " + format_rfc3339(known->second.renewed, TimeDigits::micros);
      return verdict;
    }
    last[lease.node] = lease;
    ++renewals[lease.node];
  }
  std::vector<std::string> parts;
  for (const std::string& node : cast.nodes()) {
    if (renewals[node] < 2) {
      verdict.detail = node + " renewed its lease " + std::to_string(renewals[node]) + " times";
      return verdict;
    }
    parts.push_back(node + " " + std::to_string(renewals[node]));
  }
  verdict.held = true;
  verdict.detail = "renewals seen: " + join(parts, ", ");
  return verdict;
}

CheckResult check_versions_grow(const History& history, const Cast& cast) {
  CheckResult verdict{"No client sees a resourceVersion go back without a relist"};
  std::map<std::string, std::uint64_t> last;
  std::size_t relists = 0;
  for (const VersionSeen& seen : history.versions) {
    const auto known = last.find(seen.client);
    if (known != last.end() && !seen.relisted && seen.version < known->second) {
      verdict.detail = seen.client + " saw " + std::to_string(seen.version) + " after " +
                       std::to_string(known->second);
      return verdict;
    }
    if (known != last.end() && seen.relisted) ++relists;
    last[seen.client] = seen.version;
  }
  for (const std::string& node : cast.nodes()) {
    const bool watched = std::any_of(last.begin(), last.end(), [&node](const auto& client) {
      return client.first.starts_with(node + " ");
    });
    if (watched) continue;
    verdict.detail = "no client watched through " + node;
    return verdict;
  }
  verdict.held = true;
  verdict.detail = std::to_string(history.versions.size()) + " versions seen by " +
                   std::to_string(last.size()) + " clients, " + std::to_string(relists) +
                   " relists, 410 was answered " + std::to_string(history.gone_410.size()) +
                   " times";
  return verdict;
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

CheckResult check_journal(const History& history, const Cast& cast) {
  CheckResult verdict{"Every journalled write is applied once, or reported"};
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
    verdict.detail = key.first + ": write " + std::to_string(key.second) + " was accepted " +
                     std::to_string(fate.accepted) + " times and ended " +
                     std::to_string(fate.outcomes) + " times";
    return verdict;
  }
  if (accepted[cast.autonomous] == 0) {
    verdict.detail = cast.autonomous + " has journalled no write during the outage";
    return verdict;
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(std::to_string(count) + " " + kind);
  verdict.held = true;
  verdict.detail = join(parts, ", ");
  return verdict;
}

CheckResult check_whole_again(const History& history, const Cast& cast) {
  CheckResult verdict{"In the end all nodes are Ready without taints, and all outboxes are empty"};
  Scene scene;
  const At end = history.when(Deed::ended).value_or(At::min());
  for (const LinkSeen& seen : history.links) {
    if (seen.at <= end) scene.take(seen);
  }
  for (const NodeSeen& seen : history.nodes) {
    if (seen.at <= end) scene.take(seen);
  }
  for (const ReplicasSeen& seen : history.replicas) {
    if (seen.at <= end) scene.take(seen);
  }
  for (const std::string& node : cast.nodes()) {
    const auto link = scene.links().find(node);
    if (scene.ready(node) != "True") verdict.detail = node + " is not Ready";
    if (scene.tainted(node, "")) verdict.detail = node + " is tainted";
    if (scene.link(node) != "connected") verdict.detail = node + " is not connected";
    if (link == scene.links().end() || link->second.outbox != 0) {
      verdict.detail = node + " has unsent writes";
    }
  }
  const int ready = scene.replicas().ready;
  if (ready != cast.replicas) {
    verdict.detail =
        std::to_string(ready) + " of " + std::to_string(cast.replicas) + " replicas are ready";
  }
  verdict.held = verdict.detail.empty();
  if (verdict.held) {
    verdict.detail =
        std::to_string(ready) + " of " + std::to_string(cast.replicas) + " replicas ready";
  }
  return verdict;
}

CheckResult check_nothing_left(const History& history, const Cast& /*cast*/) {
  CheckResult verdict{"Every program ends in order, and nothing is left running"};
  std::vector<std::string> wrong = history.bad_ends;
  for (const int pid : history.left_running) {
    wrong.push_back("process " + std::to_string(pid) + " is still there");
  }
  verdict.held = wrong.empty();
  verdict.detail = wrong.empty() ? "all processes ended and were reaped" : join(wrong, ", ");
  return verdict;
}

std::vector<CheckResult> judge(const History& history, const Cast& cast) {
  return {check_pods_kept(history, cast),
          check_killed_pod_back(history, cast),
          check_connected_undisturbed(history, cast),
          check_autonomous_shown(history, cast),
          check_evicted_and_replaced(history, cast),
          check_stale_copies_stop(history, cast),
          check_no_empty_answers(history, cast),
          check_leases_grow(history, cast),
          check_versions_grow(history, cast),
          check_journal(history, cast),
          check_whole_again(history, cast),
          check_room_made(history, cast),
          check_victims_elsewhere(history, cast),
          check_site_evicted_slowly(history, cast),
          check_darkness_spares(history, cast),
          check_sites_whole(history, cast),
          check_nothing_left(history, cast)};
}

}  // namespace holdfast::agent::demo
