#include "agent/lab/loops/job_backoff.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "agent/lab/loops/deadlines.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr Duration first_wait = std::chrono::seconds(10);
constexpr Duration longest_wait = std::chrono::minutes(10);

std::optional<WallTime> time_at(const json::object& object, sync::wire::Path path) {
  const auto time = parse_rfc3339(sync::wire::dig_text(object, path));
  if (!time) return std::nullopt;
  return *time;
}

// The end of the last container; none if one has not ended.
std::optional<WallTime> containers_ended(const json::object& pod) {
  std::optional<WallTime> latest;
  for (const json::value& status : sync::wire::dig_list(pod, {"status", "containerStatuses"})) {
    const auto ended =
        time_at(sync::wire::as_object(status), {"state", "terminated", "finishedAt"});
    if (!ended) return std::nullopt;
    latest = latest ? std::max(*latest, *ended) : *ended;
  }
  return latest;
}

std::optional<WallTime> not_ready_since(const json::object& pod) {
  for (const json::value& item : sync::wire::dig_list(pod, {"status", "conditions"})) {
    const json::object& condition = sync::wire::as_object(item);
    const bool unready = sync::wire::dig_text(condition, {"type"}) == "Ready" &&
                         sync::wire::dig_text(condition, {"status"}) == "False";
    if (unready) return time_at(condition, {"lastTransitionTime"});
  }
  return std::nullopt;
}

}  // namespace

WallTime ended_at(const json::object& pod) {
  if (const auto ended = containers_ended(pod)) return *ended;
  if (const auto since = not_ready_since(pod)) return *since;
  if (const auto due = time_at(pod, {"metadata", "deletionTimestamp"})) {
    const std::int64_t grace = sync::wire::dig_int(pod, {"metadata", "deletionGracePeriodSeconds"});
    return seconds_after(*due, -std::max<std::int64_t>(grace, 0));
  }
  return time_at(pod, {"metadata", "creationTimestamp"}).value_or(WallTime{});
}

JobBackoff with_ended(const JobBackoff& before, const Objects& succeeded, const Objects& failed) {
  JobBackoff record = before;
  std::optional<WallTime> success;
  for (const json::object* pod : succeeded) {
    success = success ? std::max(*success, ended_at(*pod)) : ended_at(*pod);
  }
  if (success) record = {};
  for (const json::object* pod : failed) {
    const WallTime when = ended_at(*pod);
    if (success && when <= *success) continue;
    ++record.failures;
    record.last_failure = std::max(record.last_failure, when);
  }
  return record;
}

Duration remaining(const JobBackoff& record, WallTime now) {
  if (record.failures == 0) return {};
  Duration wait = first_wait;
  for (std::int64_t more = 1; more < record.failures && wait < longest_wait; ++more) wait *= 2;
  wait = std::min(wait, longest_wait);
  // A pod that ended in the future waits no longer than one that ends now.
  const WallTime due = record.last_failure + wait;
  return due <= now ? Duration{} : std::min(due - now, wait);
}

}  // namespace holdfast::agent::lab
