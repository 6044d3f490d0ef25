// The effects of the scheduler, their outcomes, and notes for metrics and logs.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/control/effect_order.h"
#include "sync/schedule/actions.h"
#include "sync/schedule/volumes/match.h"

namespace holdfast::sync::schedule {

struct BindPod {
  PodKey pod;
  std::string node;

  bool operator==(const BindPod&) const = default;
};

// POST `body` to a verb of an extender, given by its index in SchedulerOptions::extenders.
struct AskExtender {
  std::size_t extender = 0;
  std::string verb;
  std::string body;

  bool operator==(const AskExtender&) const = default;
};

// BindVolume and SelectNode are in volumes/match.h.
using EffectBody = std::variant<RecordEvent, BindPod, AskExtender, PatchPodStatus, ClearNomination,
                                DeletePod, BindVolume, SelectNode>;

struct Effect {
  std::uint64_t id = 0;  // 0: its outcome is ignored
  EffectBody what;

  bool operator==(const Effect&) const = default;
};

struct Outcome {
  std::optional<Errc> error;  // nothing after a success
  std::string text;           // why it failed; of AskExtender, the body of the answer

  [[nodiscard]] bool ok() const { return !error; }
};

// No effect names an object. The scheduler never has two effects for one pod under way, except that
// a preemption clears the nomination of a less important pod whatever is under way for that pod.
[[nodiscard]] control::EffectOrder order_of(const Effect& effect);

// An attempt has finished its filters and scores.
struct SearchEnded {
  MonoTime began;
};
// An attempt has ended; a successful one includes the binding.
struct AttemptEnded {
  std::string_view result;  // scheduled, unschedulable, error
  MonoTime began;
};
struct PodBound {
  std::string pod;
  std::string node;
  int attempts = 0;
  MonoTime first_active;
};
struct PodNotBound {
  std::string pod;
  std::string node;
  std::string error;
};
// An attempt has failed for the reason `why`.
struct PodNotPlaced {
  std::string pod;
  std::string why;
};
// The preemption of a pod was considered.
struct PreemptionTried {};
// The deletion of a preemption's victims begins.
struct PreparationBegun {
  std::string pod;
  std::string node;
  std::vector<std::string> victims;
};
// All requests of a preemption have ended.
struct PreparationEnded {
  std::string preemptor;  // its uid
  std::vector<std::string> errors;
  MonoTime began;
};
// An extender failed, and the attempt continues without it.
struct ExtenderIgnored {
  std::string what;
};
// A status patch failed. It is not repeated; the next failed attempt writes the status again.
struct StatusNotWritten {
  std::string uid;
  std::string error;
};
using Note =
    std::variant<SearchEnded, AttemptEnded, PodBound, PodNotBound, PodNotPlaced, PreemptionTried,
                 PreparationBegun, PreparationEnded, ExtenderIgnored, StatusNotWritten>;

}  // namespace holdfast::sync::schedule
