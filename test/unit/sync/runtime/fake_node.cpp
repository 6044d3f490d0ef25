#include "test/unit/sync/runtime/fake_node.h"

namespace holdfast::sync::runtime::test {

Lines FakeNode::step(Duration after) {
  now_ += after;
  wall_ += after;
  Lines lines;
  for (int round = 0; round < 100; ++round) {
    const RuntimeActions actions = runtime_.step({now_, wall_, desired_, observed, configs});
    if (actions.empty()) return lines;
    for (const RuntimeAction& action : actions) {
      const std::string line = to_text(action);
      if (!line.starts_with("record ")) lines.push_back(line);
      perform(action);
    }
  }
  ADD_FAILURE() << "the runtime never runs out of actions";
  return lines;
}

void FakeNode::list(std::vector<std::shared_ptr<Pod>> pods) {
  CompletePods complete;
  for (auto& pod : pods) complete.pods.push_back(std::make_shared<Pod>(*pod));
  desired_ = std::move(complete);
}

void FakeNode::ends(const std::string& uid, const std::string& container, ContainerExit exit) {
  Attempt& last = observed.at(uid).at(container).back();
  EXPECT_NE(last.state, AttemptState::ended);
  last.state = AttemptState::ended;
  last.ended = now_;
  last.ended_wall = wall_;
  last.exit = std::move(exit);
}

void FakeNode::restart_agent() {
  runtime_ = PodRuntime(RuntimeConfig{.node = {.node_name = "edge-a"}});
  for (const auto& [uid, record] : records) runtime_.adopt(record, now_);
}

std::optional<Duration> FakeNode::due() const {
  const MonoTime deadline = runtime_.deadline();
  if (deadline == MonoTime::max()) return std::nullopt;
  return deadline - now_;
}

void FakeNode::perform(const StartContainer& start) {
  EXPECT_TRUE(records.contains(start.pod.uid)) << "started before it was recorded";
  Attempts& attempts = observed[start.pod.uid][start.container];
  EXPECT_TRUE(attempts.empty() || attempts.back().state == AttemptState::ended) << "started twice";
  Attempt attempt;
  attempt.number = start.number;
  attempt.restarts = start.restarts;
  attempt.next_delay = start.next_delay;
  attempt.started = now_;
  attempt.started_wall = wall_;
  attempt.state = starts_hang ? AttemptState::created : AttemptState::running;
  attempts.push_back(std::move(attempt));
}

void FakeNode::perform(const RuntimeAction& action) {
  if (const auto* start = std::get_if<StartContainer>(&action)) {
    perform(*start);
  } else if (const auto* record = std::get_if<RecordPod>(&action)) {
    records[record->record.pod->metadata.uid] = record->record;
  } else if (const auto* remove = std::get_if<RemovePod>(&action)) {
    records.erase(remove->uid);
    observed.erase(remove->uid);
  } else if (const auto* report = std::get_if<ReportStatus>(&action)) {
    reported[report->pod.uid] = report->status;
  }
}

}  // namespace holdfast::sync::runtime::test
