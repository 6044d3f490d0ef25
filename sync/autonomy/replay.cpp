#include "sync/autonomy/replay.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/status.h"

namespace holdfast::sync::autonomy {
namespace {

// Limit for failures that may pass but may also be caused by the write itself: 403, 408, server
// errors and redirections.
constexpr int refusals_max = 8;
// The Node authorizer does not let a node read a pod that no longer exists. For a moment after the
// API server's start it does not let it read any pod.
constexpr int forbidden_reads_max = 4;
constexpr Duration backoff_min = std::chrono::seconds(1);
constexpr Duration drain_backoff_min = std::chrono::seconds(2);
constexpr Duration backoff_max = std::chrono::seconds(60);
constexpr Duration request_limit_min = std::chrono::seconds(10);

// The n-th wait, from 1 on: `first`, doubled with each further one up to backoff_max.
Duration doubled(Duration first, int n) {
  Duration wait = first;
  for (int i = 1; i < n && wait < backoff_max; ++i) wait *= 2;
  return std::min(wait, backoff_max);
}

// Nothing is created any more in a namespace that is being deleted.
bool namespace_ends(std::string_view body) {
  const auto status = wire::parse_status(body);
  if (!status || !status->details) return false;
  const auto& causes = status->details->causes;
  return std::any_of(causes.begin(), causes.end(), [](const wire::StatusCause& cause) {
    return cause.reason == "NamespaceTerminating";
  });
}

}  // namespace

std::string_view to_string(ReplayOutcome outcome) {
  switch (outcome) {
    case ReplayOutcome::applied:
      return "applied";
    case ReplayOutcome::conflict:
      return "conflict";
    case ReplayOutcome::rejected:
      return "rejected";
    case ReplayOutcome::retry:
      return "retry";
    case ReplayOutcome::wait:
      return "wait";
  }
  UNREACHABLE();
}

ReplayOutcome outcome_of_answer(const ReplayAnswer& answer) {
  const int http_status = answer.http_status;
  if (http_status >= 200 && http_status < 300) return ReplayOutcome::applied;
  switch (http_status) {
    case 404:
      return answer.verb == "DELETE" ? ReplayOutcome::applied : ReplayOutcome::conflict;
    case 409:
      // The registration of a node is replayed only in case the API server no longer has the node.
      return answer.verb == "POST" && (answer.maybe_sent || answer.resource == "nodes")
                 ? ReplayOutcome::applied
                 : ReplayOutcome::conflict;
    case 401:  // Our credentials and the server's load say nothing about the write.
    case 429:
    case 503:
      return ReplayOutcome::retry;
    case 403:
      if (namespace_ends(answer.body)) return ReplayOutcome::rejected;
      if (answer.verb == "GET" && answer.refusals + 1 >= forbidden_reads_max) {
        return ReplayOutcome::conflict;
      }
      break;
    case 408:
      break;
    default:
      // A redirection comes from something in front of the API server.
      if (http_status >= 400 && http_status < 500) return ReplayOutcome::rejected;
  }
  return answer.refusals + 1 >= refusals_max ? ReplayOutcome::rejected : ReplayOutcome::wait;
}

bool may_have_arrived(int http_status) { return http_status >= 500; }

Duration replay_backoff(int refusals) { return doubled(backoff_min, refusals); }

Duration replay_request_limit(int failures) { return doubled(request_limit_min, failures + 1); }

void ReplayWidth::note_answer(Duration took) {
  // With more at the same time, slower answers would take longer than they may.
  if (took > request_limit_min / 2) {
    quick_ = 0;
    return;
  }
  if (++quick_ < value_ || value_ >= most_) return;
  ++value_;
  quick_ = 0;
}

void ReplayWidth::note_congestion() {
  value_ = std::max<std::size_t>(value_ / 2, 1);
  quick_ = 0;
}

Duration drain_backoff(int failed) { return doubled(drain_backoff_min, failed); }

bool is_expired(std::string_view resource, Duration age) {
  return resource == "events" && age > event_lifetime;
}

}  // namespace holdfast::sync::autonomy
