// The part of Replay that keeps what the API server has answered to queued writes.

#include "agent/edge/link/replay.h"
#include "sync/autonomy/admit.h"

namespace holdfast::agent {

static sync::autonomy::WrittenObject written_object(const store::Write& write) {
  const store::ObjectKey& object = write.object;
  return {.group = object.group,
          .resource = object.resource,
          .namespace_name = object.namespace_name,
          .name = object.name};
}

void Replay::keep_answers(bool keep) {
  keeps_answers_ = keep;
  answered_.clear();
  answered_bytes_ = 0;
}

sync::autonomy::LastAnswer Replay::last_answer(const sync::autonomy::WrittenObject& object) const {
  const auto waiting = offline_store_.pending({.group = object.group,
                                               .resource = object.resource,
                                               .namespace_name = object.namespace_name,
                                               .name = object.name});
  if (!waiting || !waiting->empty()) return {.is_waiting = true};
  const auto known = answered_.find(object);
  if (known == answered_.end()) return {};
  return {.state = known->second};
}

void Replay::keep_answer(const store::Write& write, std::string_view verb,
                         const http::Response& answer) {
  forget_answer(write);
  if (!keeps_answers_ || !sync::autonomy::is_shown_locally(write.object.resource)) return;
  auto state = sync::autonomy::answered_state(
      {.verb = verb, .name = write.object.name, .http_status = answer.status, .body = answer.body});
  if (!state || answered_bytes_ + state->object.size() > ReplayLimits{}.answers) return;
  answered_bytes_ += state->object.size();
  answered_.insert_or_assign(written_object(write), *std::move(state));
}

void Replay::forget_answer(const store::Write& write) {
  const auto known = answered_.find(written_object(write));
  if (known == answered_.end()) return;
  answered_bytes_ -= known->second.object.size();
  answered_.erase(known);
}

}  // namespace holdfast::agent
