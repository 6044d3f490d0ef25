#include "agent/lab/demo/recorder.h"

#include <algorithm>

namespace holdfast::agent::demo {
namespace {

bool same_process(const ProcessSeen& left, const ProcessSeen& right) {
  return left.pid == right.pid && left.start_ticks == right.start_ticks && left.uid == right.uid;
}

bool contains(const std::vector<ProcessSeen>& list, const ProcessSeen& process) {
  return std::any_of(list.begin(), list.end(),
                     [&process](const ProcessSeen& other) { return same_process(other, process); });
}

}  // namespace

void Recorder::record_pods(const std::vector<PodSeen>& pods) {
  const auto known = snapshot_.pods();
  for (const auto& [uid, pod] : known) {
    const bool there = std::any_of(pods.begin(), pods.end(),
                                   [&pod](const PodSeen& now) { return now.uid == pod.uid; });
    if (there || pod.gone) continue;
    PodSeen gone = pod;
    gone.gone = true;
    note(std::move(gone));
  }
  for (const PodSeen& pod : pods) note(pod);
}

void Recorder::record_processes(const std::string& node, const std::vector<ProcessSeen>& alive) {
  bool changed = false;
  for (ProcessSeen& known : history_.processes) {
    if (known.node != node || known.ended || contains(alive, known)) continue;
    known.ended = now();
    changed = true;
  }
  for (const ProcessSeen& seen : alive) {
    if (contains(history_.processes, seen)) continue;
    history_.processes.push_back(seen);
    history_.processes.back().began = now();
    changed = true;
  }
  if (changed) changed_.notify_all();
}

}  // namespace holdfast::agent::demo
