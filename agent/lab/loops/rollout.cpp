#include "agent/lab/loops/rollout.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

std::int64_t replicas_of(const json::object& object) {
  return sync::wire::dig_int(object, {"spec", "replicas"});
}

std::int64_t reported(const Objects& sets, std::string_view field) {
  std::int64_t sum = 0;
  for (const json::object* set : sets) sum += sync::wire::dig_int(*set, {"status", field});
  return sum;
}

std::int64_t revision_of(const json::object& object) {
  const json::object& notes = sync::wire::dig_object(object, {"metadata", "annotations"});
  return parse_int<std::int64_t>(sync::wire::dig_text(notes, {revision_note})).value_or(0);
}

// The pods and the selector of a new ReplicaSet have the template's hash as a label.
json::object new_set(const json::object& deployment, const std::string& hash, std::int64_t replicas,
                     std::int64_t revision) {
  json::object made_from = sync::wire::dig_object(deployment, {"spec", "template"});
  sync::wire::make_object(made_from, {"metadata", "labels"})[hash_label] = hash;
  json::object selector = sync::wire::dig_object(deployment, {"spec", "selector"});
  sync::wire::make_object(selector, {"matchLabels"})[hash_label] = hash;
  json::object metadata;
  metadata["name"] = std::string(sync::wire::name_of(deployment)) + "-" + hash;
  metadata["namespace"] = sync::wire::namespace_of(deployment);
  metadata["labels"] = sync::wire::dig_object(made_from, {"metadata", "labels"});
  metadata["annotations"] = json::object{{revision_note, std::to_string(revision)}};
  metadata["ownerReferences"] = json::array({controller_reference(deployment)});
  json::object set = {{"kind", "ReplicaSet"}, {"apiVersion", "apps/v1"}};
  set["metadata"] = std::move(metadata);
  set["spec"] = json::object{{"replicas", replicas},
                             {"selector", std::move(selector)},
                             {"template", std::move(made_from)}};
  return set;
}

struct Budget {
  std::int64_t most;   // the maximum number of pods
  std::int64_t least;  // the minimum number of available pods
};

Budget budget_of(const json::object& deployment) {
  const std::int64_t wanted = replicas_of(deployment);
  const json::object& rolling =
      sync::wire::dig_object(deployment, {"spec", "strategy", "rollingUpdate"});
  const std::int64_t surge = scaled(sync::wire::dig(rolling, {"maxSurge"}), wanted, true);
  std::int64_t down = scaled(sync::wire::dig(rolling, {"maxUnavailable"}), wanted, false);
  if (surge == 0 && down == 0) down = 1;  // Otherwise a rollout could never progress.
  return {wanted + surge, std::max<std::int64_t>(wanted - down, 0)};
}

// Removes replicas from old sets: all unavailable ones, and as many others as `allowed`.
void shrink_old(RolloutPlan& plan, const Objects& old, std::int64_t allowed) {
  for (const bool unavailable_only : {true, false}) {
    for (const json::object* set : old) {
      const std::string name(sync::wire::name_of(*set));
      const std::int64_t now_has =
          plan.resize.contains(name) ? plan.resize[name] : replicas_of(*set);
      const std::int64_t up = sync::wire::dig_int(*set, {"status", "availableReplicas"});
      const std::int64_t spare =
          unavailable_only ? std::max<std::int64_t>(now_has - up, 0) : now_has;
      const std::int64_t taken = unavailable_only ? spare : std::min(spare, allowed);
      if (taken <= 0) continue;
      if (!unavailable_only) allowed -= taken;
      plan.resize[name] = now_has - taken;
    }
  }
}

void roll(RolloutPlan& plan, const json::object& deployment, const json::object& fresh,
          const Objects& old) {
  const std::int64_t wanted = replicas_of(deployment);
  std::int64_t old_total = 0;
  for (const json::object* set : old) old_total += replicas_of(*set);
  const std::int64_t fresh_has = replicas_of(fresh);
  if (sync::wire::dig_text(deployment, {"spec", "strategy", "type"}) == "Recreate") {
    for (const json::object* set : old) {
      if (replicas_of(*set) > 0) plan.resize[std::string(sync::wire::name_of(*set))] = 0;
    }
    const bool gone = reported(old, "replicas") == 0 && old_total == 0;
    if (gone && fresh_has != wanted) plan.resize[std::string(sync::wire::name_of(fresh))] = wanted;
    return;
  }
  const Budget budget = budget_of(deployment);
  const std::int64_t room = std::max<std::int64_t>(budget.most - old_total, 0);
  const std::int64_t target =
      old_total == 0 ? wanted : std::max(std::min(wanted, room), std::min(fresh_has, wanted));
  if (target != fresh_has) plan.resize[std::string(sync::wire::name_of(fresh))] = target;
  const std::int64_t available = reported(old, "availableReplicas") +
                                 sync::wire::dig_int(fresh, {"status", "availableReplicas"});
  if (old_total > 0) shrink_old(plan, old, std::max<std::int64_t>(available - budget.least, 0));
}

void trim_history(RolloutPlan& plan, const json::object& deployment, Objects old) {
  const auto keep = static_cast<std::size_t>(
      std::max<std::int64_t>(sync::wire::dig_int(deployment, {"spec", "revisionHistoryLimit"}), 0));
  std::erase_if(old, [](const json::object* set) {
    return replicas_of(*set) != 0 || sync::wire::dig_int(*set, {"status", "replicas"}) != 0;
  });
  std::sort(old.begin(), old.end(), [](const json::object* left, const json::object* right) {
    return revision_of(*left) < revision_of(*right);
  });
  for (std::size_t at = 0; at + keep < old.size(); ++at) {
    plan.remove.emplace_back(sync::wire::name_of(*old[at]));
  }
}

json::object condition(std::string_view type, bool holds, std::string_view reason,
                       std::string message, const std::string& now) {
  return {{"type", type},
          {"status", holds ? "True" : "False"},
          {"lastUpdateTime", now},
          {"reason", reason},
          {"message", std::move(message)}};
}

json::object report(const json::object& deployment, const Objects& sets, const json::object* fresh,
                    const std::string& now) {
  json::object status = sync::wire::dig_object(deployment, {"status"});
  const std::int64_t wanted = replicas_of(deployment);
  const std::int64_t available = reported(sets, "availableReplicas");
  const std::int64_t updated =
      fresh == nullptr ? 0 : sync::wire::dig_int(*fresh, {"status", "replicas"});
  const std::int64_t total = reported(sets, "replicas");
  status["observedGeneration"] = sync::wire::dig_int(deployment, {"metadata", "generation"});
  status["replicas"] = total;
  status["updatedReplicas"] = updated;
  status["readyReplicas"] = reported(sets, "readyReplicas");
  status["availableReplicas"] = available;
  status["unavailableReplicas"] = std::max<std::int64_t>(std::max(wanted, total) - available, 0);
  const bool enough = available >= budget_of(deployment).least;
  const bool done = updated == wanted && total == wanted && available >= wanted;
  const bool was_enough = condition_status(deployment, "Available") == "True";
  const bool known = !condition_status(deployment, "Available").empty();
  if (!known || enough != was_enough) {
    set_condition(status,
                  condition("Available", enough,
                            enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                            enough ? "Deployment has minimum availability."
                                   : "Deployment does not have minimum availability.",
                            now),
                  now);
  }
  const std::string set = fresh == nullptr ? "" : std::string(sync::wire::name_of(*fresh));
  const std::string_view reason = done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated";
  std::string_view old_reason;
  for (const json::value& item : sync::wire::dig_list(deployment, {"status", "conditions"})) {
    if (sync::wire::dig_text(sync::wire::as_object(item), {"type"}) != "Progressing") continue;
    old_reason = sync::wire::dig_text(sync::wire::as_object(item), {"reason"});
  }
  if (reason != old_reason) {
    set_condition(status,
                  condition("Progressing", true, reason,
                            "ReplicaSet \"" + set + "\" " +
                                (done ? "has successfully progressed." : "is progressing."),
                            now),
                  now);
  }
  return status;
}

}  // namespace

std::string template_hash(const json::object& deployment) {
  // FNV-1a. Upstream's hash cannot be reproduced, because it is computed from a Go struct.
  std::uint32_t hash = 2166136261U;
  for (const char c : json::serialize(sync::wire::dig_object(deployment, {"spec", "template"}))) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text = std::to_string(hash);
  for (char& c : text) c = alphabet[static_cast<unsigned char>(c) % alphabet.size()];
  return text;
}

RolloutPlan plan_rollout(const json::object& deployment, const Objects& sets, WallTime now) {
  RolloutPlan plan;
  const std::string hash = template_hash(deployment);
  const json::object* fresh = nullptr;
  Objects old;
  std::int64_t newest = 0;
  for (const json::object* set : sets) {
    const bool same = sync::wire::dig_text(sync::wire::dig_object(*set, {"metadata", "labels"}),
                                           {hash_label}) == hash;
    if (same) fresh = set;
    if (!same) old.push_back(set);
    newest = std::max(newest, revision_of(*set));
  }
  plan.status = report(deployment, sets, fresh, format_rfc3339(now));
  plan.revision = revision_of(deployment);
  if (sync::wire::is_terminating(deployment) ||
      sync::wire::dig_bool(deployment, {"spec", "paused"}))
    return plan;
  if (fresh != nullptr) {
    plan.revision = revision_of(*fresh) == newest ? newest : newest + 1;
    roll(plan, deployment, *fresh, old);
    trim_history(plan, deployment, old);
    return plan;
  }
  plan.revision = newest + 1;
  // The only set starts with all replicas. If there are old sets, it starts with none and grows as
  // the budget allows.
  const std::int64_t start = old.empty() ? replicas_of(deployment) : 0;
  plan.create = new_set(deployment, hash, start, plan.revision);
  return plan;
}

}  // namespace holdfast::agent::lab
