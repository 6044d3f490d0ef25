// The effects of the node lifecycle controller: writes to the API server, questions to the machine
// provider, and events. Plain values, compared with ==.
//
// The owner performs each effect and reports its outcome, except for events, with Performed.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "platform/result.h"
#include "sync/control/effect_order.h"
#include "sync/lifecycle/facts.h"
#include "sync/model/node.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

// Write these complete conditions into the node's status and keep all others, on the condition that
// the node is still at `resource_version`. If the node's lease was renewed after `renewed`, our
// watch is late: write nothing, and report a failure with Outcome::renewed.
struct UpdateNodeStatus {
  std::string node;
  std::string uid;
  std::string resource_version;
  std::optional<WallTime> renewed;  // the latest renewal that was known when this was decided
  std::vector<NodeCondition> conditions;
  bool operator==(const UpdateNodeStatus&) const = default;
};

struct TaintRef {
  std::string key;
  std::string effect;
  bool operator==(const TaintRef&) const = default;
};

// Why taints change.
enum class TaintCause : std::uint8_t {
  conditions,  // NoSchedule taints follow the node's conditions
  queued,      // the node's turn in its zone's queue: its NoExecute taint is added
  swap,        // Ready changed between False and Unknown: the other NoExecute taint replaces it
  recovered    // the NoExecute taints are removed
};

// The taints of a node at one resource version.
struct TaintsSeen {
  std::string resource_version;  // not empty
  std::vector<Taint> taints;
  bool operator==(const TaintsSeen&) const = default;
};

// Add the taints of `add` to the node and remove those of `remove`, as taints_after() in taints.h
// does. The first attempt assumes `seen` and is conditional on its resource version, which saves
// reading the node. Without `seen`, and after a conflict, the node is read first.
struct PatchTaints {
  std::string node;
  std::string uid;
  TaintCause cause = TaintCause::conditions;
  std::vector<Taint> add;
  std::vector<TaintRef> remove;
  std::optional<TaintsSeen> seen = {};
  bool operator==(const PatchTaints&) const = default;
};

// Set these labels and keep all others.
struct PatchLabels {
  std::string node;
  StringMap labels;
  bool operator==(const PatchLabels&) const = default;
};

struct PodRef {
  std::string namespace_name;
  std::string name;
  std::string uid;

  [[nodiscard]] std::string key() const { return namespace_name + "/" + name; }
  bool operator==(const PodRef&) const = default;
};

// Set the status of the pod's Ready condition to False and its transition time to `at`.
struct MarkPodNotReady {
  PodRef pod;
  WallTime at{};
  bool operator==(const MarkPodNotReady&) const = default;
};

// Set status.reason to NodeLost, and status.message.
struct MarkPodLost {
  PodRef pod;
  std::string message;
  bool operator==(const MarkPodLost&) const = default;
};

// Add the condition DisruptionTarget, as a taint eviction writes it. `withdrawn`: set it to False,
// because the pod stays after all.
struct MarkPodDisrupted {
  PodRef pod;
  WallTime at{};
  bool withdrawn = false;
  bool operator==(const MarkPodDisrupted&) const = default;
};

// A node that an operator declared dead with the taint out-of-service while it is not Ready.
struct DeadNode {
  std::string name;
  std::string uid;
  bool operator==(const DeadNode&) const = default;
};

// The status and the message of the condition.
[[nodiscard]] std::string_view disruption_status(const MarkPodDisrupted& effect);
[[nodiscard]] std::string_view disruption_message(const MarkPodDisrupted& effect);

// Delete the pod if it still has this uid, with its own grace period. `forced`: with grace period
// 0, which does not wait for the kubelet of this node.
struct DeletePod {
  PodRef pod;
  std::optional<DeadNode> forced = {};
  bool operator==(const DeletePod&) const = default;
};

// Evict the pod through the eviction API if it still has this uid. Errc::exhausted reports that a
// PodDisruptionBudget forbids it for now.
struct EvictPod {
  PodRef pod;
  bool operator==(const EvictPod&) const = default;
};

// Set status.phase to Failed.
struct FailPod {
  PodRef pod;
  DeadNode on;
  bool operator==(const FailPod&) const = default;
};

// Delete all VolumeAttachments of the node that are not being deleted already.
struct DetachVolumes {
  DeadNode node;
  bool operator==(const DetachVolumes&) const = default;
};

// Ask the provider of the machines whether this machine exists. Outcome::exists has the answer.
struct AskProvider {
  std::string node;
  std::string uid;
  std::string provider_id;
  bool operator==(const AskProvider&) const = default;
};

// Delete the node if it still has this uid and is not Ready.
struct DeleteNode {
  std::string node;
  std::string uid;
  bool operator==(const DeleteNode&) const = default;
};

// Adapt the pod's tolerations to its node's autonomy, as bind_pod() in pod_binding.h does. Read the
// pod first: the write is computed from its current version.
struct BindPod {
  PodRef pod;
  Autonomy autonomy;
  bool operator==(const BindPod&) const = default;
};

enum class EventSource : std::uint8_t { lifecycle, taint_eviction, provider };
enum class EventKind : std::uint8_t { node, pod };

struct RecordEvent {
  EventSource source = EventSource::lifecycle;
  EventKind kind = EventKind::node;
  PodRef about;  // a node has no namespace; events of taint evictions have no uid
  bool warning = false;
  std::string reason;
  std::string message;
  bool operator==(const RecordEvent&) const = default;
};

using Effect = std::variant<UpdateNodeStatus, PatchTaints, PatchLabels, MarkPodNotReady,
                            MarkPodLost, MarkPodDisrupted, DeletePod, EvictPod, FailPod,
                            DetachVolumes, AskProvider, DeleteNode, BindPod, RecordEvent>;
using Effects = std::vector<Effect>;

// Taints go before statuses: the taint of a lost node, which follows from its status, would
// otherwise wait for the statuses of all other lost nodes. Then come pods; events are last.
[[nodiscard]] control::EffectOrder order_of(const Effect& effect);

// What must hold for a node before an effect that cannot be undone: that the node still has this
// uid, is not Ready and, with `out_of_service`, has that taint.
struct NodeMustBe {
  std::string name;
  std::string uid;
  bool out_of_service = false;
  bool operator==(const NodeMustBe&) const = default;

  [[nodiscard]] bool holds(const NodeFacts& node) const;
};

// The condition of forced deletions, FailPod, DetachVolumes and DeleteNode; nullopt for all other
// effects. A watch can lag behind by minutes. Who performs the effect therefore reads the node from
// the API server before each write, and otherwise writes nothing and reports a conflict with the
// node's current state.
[[nodiscard]] std::optional<NodeMustBe> condition_of(const Effect& effect);

// The outcome of an effect.
struct Outcome {
  std::optional<Errc> error;             // nullopt: it succeeded
  std::optional<NodeFacts> node;         // the node's current state, if the server returned it
  std::optional<WallTime> renewed = {};  // the current renewal of the node's lease, if it was read
  std::optional<bool> exists = {};       // the answer to AskProvider; nullopt: not known

  [[nodiscard]] bool ok() const { return !error; }
  bool operator==(const Outcome&) const = default;
};

// Events about nodes and pods, as upstream's controllers record them.
[[nodiscard]] RecordEvent node_event(const NodeFacts& node, bool warning, std::string_view reason,
                                     std::string message);
[[nodiscard]] RecordEvent pod_event(EventSource source, PodRef pod, bool warning,
                                    std::string_view reason, std::string message);

[[nodiscard]] PodRef ref_of(const PodFacts& pod);

// Appends effects, or values of one kind of effect.
template <class Range>
void append(Effects& effects, Range more) {
  for (auto& effect : more) effects.emplace_back(std::move(effect));
}

}  // namespace holdfast::sync::lifecycle
