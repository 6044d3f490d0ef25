// The lab's own scheduler: the rules of sync/schedule, performed on the registry at once. Pods that
// name "default-scheduler" are placed by it, important ones at others' cost.
//
// It is the shell round sync::schedule::Books for a control plane in one process; the one for any
// API server is agent/cloud/scheduler. A node that has not said what it has counts with 4 cores,
// 8 GiB and room for 110 pods: a lab does not insist.

#pragma once

#include <deque>
#include <string_view>

#include "agent/lab/apiserver/editor.h"
#include "platform/random.h"
#include "sync/schedule/attempt.h"
#include "sync/schedule/books.h"
#include "sync/schedule/failure.h"
#include "sync/schedule/preemption/preemption.h"
#include "sync/schedule/preemption/preparation.h"

namespace holdfast::agent::lab {

class Placer {
 public:
  // Both are borrowed and outlive it.
  Placer(Editor& editor, const Clock& clock, Random random);

  // Hears of every change.
  void note(const Change& change);

  // All attempts that are due now.
  void pass();

 private:
  void read(const Stored& stored);
  void forget(const Stored& stored);
  void take_news();
  void attempt(const sync::schedule::Queue::Popped& popped);
  void give_up(const sync::schedule::PodRef& pod, sync::schedule::Attempt attempt);
  void make_room(const sync::schedule::PodRef& pod, const sync::schedule::Candidate& chosen);
  [[nodiscard]] sync::schedule::Settled perform(const sync::schedule::Action& action);
  [[nodiscard]] sync::Answer<StoredPtr> bind(const sync::schedule::PodView& pod,
                                             std::string_view node);
  [[nodiscard]] sync::schedule::Settled patch(const sync::schedule::PatchPodStatus& patch);
  void tell(const sync::schedule::RecordEvent& event);

  Editor& editor_;
  const Clock& clock_;
  Random random_;
  sync::schedule::Books books_;
  sync::schedule::Finder finder_;
  std::deque<Change> news_;
};

}  // namespace holdfast::agent::lab
