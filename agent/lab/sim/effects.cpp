#include "agent/lab/sim/effects.h"

#include <utility>

#include "platform/check.h"
#include "sync/lifecycle/pod_binding.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"

namespace holdfast::agent::lab::sim {

namespace lifecycle = sync::lifecycle;

namespace {

std::optional<Errc> error_of(int status) {
  switch (status) {
    case ok:
    case created:
      return std::nullopt;
    case not_found:
      return Errc::not_found;
    case conflict:
      return Errc::conflict;
    case too_many:
      return Errc::exhausted;
    default:
      return Errc::unavailable;
  }
}

lifecycle::Outcome outcome_of(int status) {
  lifecycle::Outcome outcome;
  outcome.error = error_of(status);
  return outcome;
}

// A conflict of a pod's uid means that this pod is gone.
lifecycle::Outcome outcome_of_pod(int status) {
  return outcome_of(status == conflict ? not_found : status);
}

template <class Condition>
Condition& condition_of(std::vector<Condition>& conditions, std::string_view type) {
  for (Condition& condition : conditions) {
    if (condition.type == type) return condition;
  }
  conditions.emplace_back().type = type;
  return conditions.back();
}

}  // namespace

lifecycle::Outcome EffectPerformer::perform(const lifecycle::Effect& effect) {
  if (const auto condition = lifecycle::condition_of(effect)) {
    const NodePtr node = server_.node(condition->name);
    if (!node) return outcome_of(not_found);
    if (!condition->holds(lifecycle::facts_of(*node, options_))) {
      return with_node(conflict, condition->name);
    }
  }
  return std::visit([this](const auto& one) { return perform_one(one); }, effect);
}

lifecycle::Outcome EffectPerformer::with_node(int status, const std::string& node) const {
  Outcome outcome = outcome_of(status);
  if (const NodePtr found = server_.node(node)) {
    outcome.node = lifecycle::facts_of(*found, options_);
  }
  return outcome;
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::UpdateNodeStatus& effect) {
  const LeasePtr lease = server_.lease(effect.node);
  if (options_.node_leases && lease && lease->spec.renew_time) {
    const WallTime renewed = *lease->spec.renew_time;
    if (!effect.renewed || renewed > *effect.renewed) {
      Outcome alive = outcome_of(conflict);
      alive.renewed = renewed;
      return alive;
    }
  }
  const int status =
      server_.edit_node(effect.node, effect.uid, effect.resource_version, Actor::lifecycle,
                        [&effect](sync::Node& node) {
                          for (const sync::NodeCondition& condition : effect.conditions) {
                            condition_of(node.status.conditions, condition.type) = condition;
                          }
                          return true;
                        });
  return with_node(status, effect.node);
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::PatchTaints& effect) {
  const NodePtr node = server_.node(effect.node);
  if (!node || node->metadata.uid != effect.uid) return outcome_of(not_found);
  const auto taints = lifecycle::taints_after(node->spec.taints, effect);
  if (taints == node->spec.taints) return {};
  const int status = server_.edit_node(effect.node, effect.uid, "", Actor::lifecycle,
                                       [&taints](sync::Node& edited) {
                                         edited.spec.taints = taints;
                                         return true;
                                       });
  return with_node(status, effect.node);
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::PatchLabels& effect) {
  return outcome_of(
      server_.edit_node(effect.node, "", "", Actor::lifecycle, [&effect](sync::Node& node) {
        for (const auto& [name, value] : effect.labels) node.metadata.labels.set(name, value);
        return true;
      }));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::MarkPodNotReady& effect) {
  return outcome_of_pod(server_.edit_pod(
      effect.pod.key(), effect.pod.uid, Actor::lifecycle, [&effect](sync::Pod& pod) {
        auto& ready = condition_of(pod.status.conditions, sync::objects::condition_ready);
        ready.status = sync::objects::status_false;
        ready.last_transition_time = effect.at;
        return true;
      }));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::MarkPodLost& effect) {
  return outcome_of(server_.edit_pod(effect.pod.key(), effect.pod.uid, Actor::lifecycle,
                                     [&effect](sync::Pod& pod) {
                                       pod.status.reason = sync::objects::reason_node_lost;
                                       pod.status.message = effect.message;
                                       return true;
                                     }));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::MarkPodDisrupted& effect) {
  return outcome_of_pod(server_.edit_pod(
      effect.pod.key(), effect.pod.uid, Actor::lifecycle, [&effect](sync::Pod& pod) {
        auto& target =
            condition_of(pod.status.conditions, sync::objects::condition_disruption_target);
        target.status = lifecycle::disruption_status(effect);
        target.reason = sync::objects::reason_taint_deletion;
        target.message = lifecycle::disruption_message(effect);
        target.last_transition_time = effect.at;
        return true;
      }));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::DeletePod& effect) {
  const auto grace = effect.forced ? std::optional<std::int64_t>(0) : std::nullopt;
  return outcome_of(server_.delete_pod(effect.pod.key(), effect.pod.uid, Actor::lifecycle, grace));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::EvictPod& effect) {
  const PodPtr pod = server_.pod(effect.pod.key());
  if (!pod || pod->metadata.uid != effect.pod.uid) return outcome_of(not_found);
  if (!may_evict_(*pod)) return outcome_of(too_many);
  return outcome_of(server_.delete_pod(effect.pod.key(), effect.pod.uid, Actor::lifecycle));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::FailPod& effect) {
  return outcome_of_pod(
      server_.edit_pod(effect.pod.key(), effect.pod.uid, Actor::lifecycle, [](sync::Pod& pod) {
        pod.status.phase = "Failed";
        return true;
      }));
}

// The modelled cluster has no volumes.
lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::DetachVolumes&) { return {}; }

// It has no cloud provider either.
lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::AskProvider&) {
  Outcome outcome;
  outcome.error = Errc::invalid;
  return outcome;
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::DeleteNode& effect) {
  return outcome_of(server_.delete_node(effect.node, effect.uid, Actor::lifecycle));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::BindPod& effect) {
  return outcome_of_pod(server_.edit_pod(
      effect.pod.key(), effect.pod.uid, Actor::lifecycle, [&effect](sync::Pod& pod) {
        const auto binding =
            lifecycle::bind_pod(effect.autonomy, pod.spec.tolerations, pod.metadata.annotations);
        if (!binding.changed) return false;
        pod.spec.tolerations = binding.tolerations;
        pod.metadata.annotations = binding.annotations;
        return true;
      }));
}

lifecycle::Outcome EffectPerformer::perform_one(const lifecycle::RecordEvent&) { return {}; }

}  // namespace holdfast::agent::lab::sim
