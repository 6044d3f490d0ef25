// A plan for a Job at work. Private to jobs.cpp and job_manage.cpp.

#pragma once

#include <boost/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/loops/job_indexes.h"
#include "agent/lab/loops/jobs.h"
#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {

// How the Job ends, or that it is about to.
struct JobEnding {
  std::string type;  // of the condition: SuccessCriteriaMet, FailureTarget or Failed
  std::string reason;
  std::string message;

  [[nodiscard]] bool succeeds() const { return type == "SuccessCriteriaMet"; }
};

using PodUids = std::set<std::string, std::less<>>;

// One plan at work: reads the Job and its pods, then decides step by step.
class JobPlanner {
 public:
  JobPlanner(const boost::json::object& job, const Objects& pods, WallTime now,
             const JobLimits& limits)
      : job_(job),
        spec_(sync::wire::dig_object(job, {"spec"})),
        pods_(pods),
        now_(now),
        time_(format_rfc3339(now)),
        limits_(limits),
        status_(sync::wire::dig_object(job, {"status"})),
        suspended_(sync::wire::dig_bool(spec_, {"suspend"})),
        indexed_(sync::wire::dig_text(spec_, {"completionMode"}) == "Indexed"),
        unlimited_(sync::wire::dig(spec_, {"completions"}) == nullptr),
        completions_(sync::wire::dig_int(spec_, {"completions"})) {}

  [[nodiscard]] JobPlan plan(const JobBackoff& backoff);

 private:
  [[nodiscard]] bool waits_for_end() const {
    return sync::wire::dig_text(spec_, {"podReplacementPolicy"}) == "Failed";
  }
  // Pods that are deleted count as failed at once, unless they are only replaced when they ended.
  [[nodiscard]] bool has_failed(const boost::json::object& pod) const {
    const std::string_view phase = sync::wire::dig_text(pod, {"status", "phase"});
    if (phase == "Failed") return true;
    return !waits_for_end() && sync::wire::is_terminating(pod) && phase != "Succeeded";
  }
  // The pod's index, if the Job has indexes and it is one of them.
  [[nodiscard]] std::optional<std::int64_t> valid_index(const boost::json::object& pod) const {
    const auto index = completion_index(pod);
    return indexed_ && index && *index < completions_ ? index : std::nullopt;
  }
  [[nodiscard]] static bool has_succeeded(const boost::json::object& pod) {
    return sync::wire::dig_text(pod, {"status", "phase"}) == "Succeeded";
  }

  void sort_pods();
  void count_ended(const JobBackoff& backoff);
  void find_ending();
  [[nodiscard]] bool restarted_too_often() const;
  [[nodiscard]] bool is_overdue();
  void fail(std::string_view reason, std::string_view message);
  void leave(const Objects& pods);
  void manage();
  [[nodiscard]] std::size_t wanted() const;
  [[nodiscard]] Objects surplus(std::size_t count) const;
  [[nodiscard]] std::vector<std::int64_t> pending_indexes(std::size_t count) const;
  void create(std::size_t count);
  void find_success();
  void note_suspension();
  void track();
  bool count(const boost::json::object& pod);
  void end();
  void set(const JobEnding& ending);

  const boost::json::object& job_;
  const boost::json::object& spec_;
  const Objects& pods_;
  WallTime now_;
  std::string time_;
  JobLimits limits_;
  boost::json::object status_;
  bool suspended_;
  bool indexed_;
  bool unlimited_;  // no completions: one success is enough
  std::int64_t completions_;

  JobPlan plan_;
  Objects active_;
  std::size_t active_count_ = 0;  // after this plan
  std::int64_t ready_ = 0;
  std::int64_t terminating_ = 0;
  std::int64_t succeeded_ = 0;
  std::int64_t failed_ = 0;
  PodUids uncounted_succeeded_;
  PodUids uncounted_failed_;
  IndexSet counted_indexes_;  // as the status has them
  IndexSet indexes_;          // also those of pods that were not counted yet
  std::optional<JobEnding> ending_;
};

}  // namespace holdfast::agent::lab
