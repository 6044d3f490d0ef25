// What the node lifecycle controller wants done on the API server: plain values, compared with ==.
//
// Whoever performs one tells the controller how it went, by Performed.

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

// Write these conditions into the node's status, each complete, keeping all others; only if the
// node is still at `resource_version`. A lease that was renewed later than `renewed` shows that our
// watch is late: then nothing is written, and the outcome is a failure with Outcome::renewed.
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

// Why taints change. A queued one is settled with its zone's queue.
enum class TaintCause : std::uint8_t { conditions, queued, swap, recovered };

// The taints of a node at one resource version.
struct TaintsSeen {
  std::string resource_version;  // not empty
  std::vector<Taint> taints;
  bool operator==(const TaintsSeen&) const = default;
};

// Add these taints to those that the node has when it is written and remove those; see
// taints_after() in taints.h. The first try is made on `seen` and is conditional on its resource
// version, which saves the read. Without `seen`, and after a conflict, the node is read first.
struct PatchTaints {
  std::string node;
  std::string uid;
  TaintCause cause = TaintCause::conditions;
  std::vector<Taint> add;
  std::vector<TaintRef> remove;
  std::optional<TaintsSeen> seen = {};
  bool operator==(const PatchTaints&) const = default;
};

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

// Set the pod's Ready condition to False, transition now; keep the rest of it.
struct MarkPodNotReady {
  PodRef pod;
  WallTime at{};
  bool operator==(const MarkPodNotReady&) const = default;
};

// Set status.reason NodeLost and its message.
struct MarkPodLost {
  PodRef pod;
  std::string message;
  bool operator==(const MarkPodLost&) const = default;
};

// Add the condition DisruptionTarget, as a taint eviction writes it.
struct MarkPodDisrupted {
  PodRef pod;
  WallTime at{};
  bool operator==(const MarkPodDisrupted&) const = default;
};

// Delete the pod that has this uid, with its own grace period; forced: with none, whether its
// kubelet knows or not.
struct DeletePod {
  PodRef pod;
  bool forced = false;
  bool operator==(const DeletePod&) const = default;
};

// Ask for the eviction of the pod that has this uid. Errc::exhausted says that a disruption budget
// forbids it for now.
struct EvictPod {
  PodRef pod;
  bool operator==(const EvictPod&) const = default;
};

// Set status.phase Failed.
struct FailPod {
  PodRef pod;
  bool operator==(const FailPod&) const = default;
};

// Delete all VolumeAttachments of the node that are not being deleted yet.
struct DetachVolumes {
  std::string node;
  bool operator==(const DetachVolumes&) const = default;
};

// Ask the provider of the machines whether this one exists; answered with Outcome::exists.
struct AskProvider {
  std::string node;
  std::string uid;
  std::string provider_id;
  bool operator==(const AskProvider&) const = default;
};

// Delete the node that has this uid.
struct DeleteNode {
  std::string node;
  std::string uid;
  bool operator==(const DeleteNode&) const = default;
};

// Bring the pod's tolerations in line with its node's autonomy: bind_pod() in pod_binding.h says
// how. Decided on the pod as it is when it is written.
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
  PodRef about;  // of a node without namespace; of a taint eviction without uid
  bool warning = false;
  std::string reason;
  std::string message;
  bool operator==(const RecordEvent&) const = default;
};

using Effect = std::variant<UpdateNodeStatus, PatchTaints, PatchLabels, MarkPodNotReady,
                            MarkPodLost, MarkPodDisrupted, DeletePod, EvictPod, FailPod,
                            DetachVolumes, AskProvider, DeleteNode, BindPod, RecordEvent>;
using Effects = std::vector<Effect>;

// Taints go before statuses, so that the taint of a lost node, which follows from its status, is
// not written after the statuses of all other lost nodes. Then come pods; events are last.
[[nodiscard]] control::EffectOrder order_of(const Effect& effect);

// How an effect went.
struct Outcome {
  std::optional<Errc> error;      // nothing: it succeeded
  std::optional<NodeFacts> node;  // the node as the server has it now, if it was read or answered
  std::optional<WallTime> renewed = {};  // the node's lease as it is now, if it was read
  std::optional<bool> exists = {};       // of AskProvider; nothing: not known

  [[nodiscard]] bool ok() const { return !error; }
  bool operator==(const Outcome&) const = default;
};

// The events of section 16 of nlc.md.
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
