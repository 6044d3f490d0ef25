#include "agent/cloud/scheduler/scheduler_observer.h"

#include "platform/log.h"

namespace holdfast::agent {

namespace schedule = sync::schedule;

void SchedulerObserver::stepped(const sync::control::Now& /*began*/) {
  for (const schedule::Note& note : machine_.take_notes()) {
    std::visit([this](const auto& one) { take(one); }, note);
  }
}

void SchedulerObserver::take(const schedule::SearchEnded& note) {
  metrics_.searched(clock_.mono() - note.began);
}

void SchedulerObserver::take(const schedule::AttemptEnded& note) {
  metrics_.attempted(note.result, clock_.mono() - note.began);
}

void SchedulerObserver::take(const schedule::PodBound& note) {
  metrics_.scheduled(note.attempts, clock_.mono() - note.first_active);
  log_debug("pod bound", {{"pod", note.pod}, {"node", note.node}});
}

void SchedulerObserver::take(const schedule::PodNotBound& note) {
  log_info("pod not bound", {{"pod", note.pod}, {"node", note.node}, {"error", note.error}});
}

void SchedulerObserver::take(const schedule::PodNotPlaced& note) {
  log_debug("pod not scheduled", {{"pod", note.pod}, {"why", note.why}});
}

void SchedulerObserver::take(const schedule::PreemptionTried& /*note*/) {
  metrics_.tried_preemption();
}

void SchedulerObserver::take(const schedule::PreparationBegun& note) {
  metrics_.victims(note.victims.size());
  std::string names;
  for (const std::string& victim : note.victims) names += " " + victim;
  log_info("preempt", {{"pod", note.pod}, {"node", note.node}, {"victims", names}});
}

void SchedulerObserver::take(const schedule::PreparationEnded& note) {
  metrics_.prepared(note.errors.empty(), clock_.mono() - note.began);
  for (const std::string& error : note.errors) {
    log_warn("preemption", {{"preemptor", note.preemptor}, {"error", error}});
  }
}

void SchedulerObserver::take(const schedule::ExtenderIgnored& note) {
  log_warn("extender ignored", {{"what", note.what}});
}

void SchedulerObserver::take(const schedule::StatusNotWritten& note) {
  log_warn("pod status not written", {{"uid", note.uid}, {"error", note.error}});
}

}  // namespace holdfast::agent
