#include "agent/lab/loops/jobs.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/loops/deadlines.h"
#include "agent/lab/loops/job_planner.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view own_name = "kubernetes.io/job-controller";

const json::object* find_condition(const json::object& status, std::string_view type) {
  for (const json::value& item : sync::wire::dig_list(status, {"conditions"})) {
    const json::object& condition = sync::wire::as_object(item);
    if (sync::wire::dig_text(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool holds(const json::object& job, std::string_view type) {
  return condition_status(job, type) == "True";
}

PodUids read_uids(const json::object& status, std::string_view part) {
  PodUids uids;
  for (const json::value& uid : sync::wire::dig_list(status, {"uncountedTerminatedPods", part})) {
    if (!sync::wire::as_text(uid).empty()) uids.emplace(sync::wire::as_text(uid));
  }
  return uids;
}

json::array to_list(const PodUids& uids) { return json::array(uids.begin(), uids.end()); }

}  // namespace

JobPlan JobPlanner::plan(const JobBackoff& backoff) {
  sort_pods();
  count_ended(backoff);
  if (status_.find("startTime") == status_.end() && !suspended_) status_["startTime"] = time_;
  find_ending();
  if (ending_) {
    for (const boost::json::object* pod : active_)
      plan_.remove.emplace_back(sync::wire::name_of(*pod));
    leave(active_);
  } else {
    if (!sync::wire::is_terminating(job_)) manage();
    find_success();
    if (!ending_) note_suspension();
  }
  status_["active"] = static_cast<std::int64_t>(active_count_);
  status_["ready"] = ready_;
  status_["terminating"] = terminating_;
  track();
  end();
  plan_.status = std::move(status_);
  return std::move(plan_);
}

void JobPlanner::sort_pods() {
  for (const json::object* pod : pods_) {
    if (is_active(*pod)) active_.push_back(pod);
    if (is_active(*pod) && is_ready(*pod)) ++ready_;
    if (sync::wire::is_terminating(*pod) && !is_finished(*pod)) ++terminating_;
  }
  active_count_ = active_.size();
}

void JobPlanner::count_ended(const JobBackoff& backoff) {
  uncounted_succeeded_ = read_uids(status_, "succeeded");
  uncounted_failed_ = read_uids(status_, "failed");
  counted_indexes_ =
      IndexSet::parse(sync::wire::dig_text(status_, {"completedIndexes"}), completions_);
  indexes_ = counted_indexes_;
  Objects succeeded;
  Objects failed;
  for (const json::object* pod : pods_) {
    const std::string_view uid = sync::wire::uid_of(*pod);
    const auto index = valid_index(*pod);
    if (!is_tracked(*pod) || (indexed_ && !index)) continue;
    if (has_succeeded(*pod) && indexed_) indexes_.add(*index);
    if (has_succeeded(*pod) && !uncounted_succeeded_.contains(uid)) succeeded.push_back(pod);
    if (has_failed(*pod) && !uncounted_failed_.contains(uid)) failed.push_back(pod);
  }
  plan_.backoff = with_ended(backoff, succeeded, failed);
  const auto sum = [](std::int64_t counted, std::size_t fresh, std::size_t uncounted) {
    return counted + static_cast<std::int64_t>(fresh + uncounted);
  };
  succeeded_ = sum(sync::wire::dig_int(status_, {"succeeded"}), succeeded.size(),
                   uncounted_succeeded_.size());
  failed_ = sum(sync::wire::dig_int(status_, {"failed"}), failed.size(), uncounted_failed_.size());
  if (indexed_) succeeded_ = indexes_.size();
}

// With restartPolicy OnFailure, the restarts of the containers count.
bool JobPlanner::restarted_too_often() const {
  if (sync::wire::dig_text(spec_, {"template", "spec", "restartPolicy"}) != "OnFailure")
    return false;
  std::int64_t restarts = 0;
  for (const json::object* pod : pods_) {
    if (is_finished(*pod)) continue;
    for (const std::string_view part : {"initContainerStatuses", "containerStatuses"}) {
      for (const json::value& status : sync::wire::dig_list(*pod, {"status", part})) {
        restarts += std::max<std::int64_t>(
            sync::wire::dig_int(sync::wire::as_object(status), {"restartCount"}), 0);
      }
    }
  }
  return restarts >= std::max<std::int64_t>(sync::wire::dig_int(spec_, {"backoffLimit"}), 1);
}

bool JobPlanner::is_overdue() {
  if (sync::wire::dig(spec_, {"activeDeadlineSeconds"}) == nullptr || suspended_) return false;
  const auto start = parse_rfc3339(sync::wire::dig_text(status_, {"startTime"}));
  if (!start) return false;
  const WallTime due = seconds_after(*start, sync::wire::dig_int(spec_, {"activeDeadlineSeconds"}));
  if (now_ >= due) return true;
  bring_forward(plan_.again, due);
  return false;
}

void JobPlanner::fail(std::string_view reason, std::string_view message) {
  ending_ = JobEnding{"FailureTarget", std::string(reason), std::string(message)};
}

// What an earlier plan decided stays; otherwise the limits decide.
void JobPlanner::find_ending() {
  for (const auto& [type, becomes] :
       {std::pair{"SuccessCriteriaMet", "SuccessCriteriaMet"}, {"FailureTarget", "Failed"}}) {
    const json::object* decided = find_condition(status_, type);
    if (decided == nullptr || sync::wire::dig_text(*decided, {"status"}) != "True") continue;
    ending_ = JobEnding{becomes, std::string(sync::wire::dig_text(*decided, {"reason"})),
                        std::string(sync::wire::dig_text(*decided, {"message"}))};
    return;
  }
  if (failed_ > sync::wire::dig_int(spec_, {"backoffLimit"}) || restarted_too_often()) {
    fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  } else if (is_overdue()) {
    fail("DeadlineExceeded", "Job was active longer than specified deadline");
  }
}

void JobPlanner::find_success() {
  const bool enough = unlimited_ ? succeeded_ > 0 : succeeded_ >= completions_;
  if (!enough || active_count_ > 0) return;
  ending_ = JobEnding{"SuccessCriteriaMet", "CompletionsReached",
                      "Reached expected number of succeeded pods"};
}

void JobPlanner::note_suspension() {
  const json::object* known = find_condition(status_, "Suspended");
  if (sync::wire::is_terminating(job_) || (known == nullptr && !suspended_)) return;
  const std::string_view state = suspended_ ? "True" : "False";
  if (known != nullptr && sync::wire::dig_text(*known, {"status"}) == state) return;
  set_condition(status_,
                {{"type", "Suspended"},
                 {"status", state},
                 {"lastProbeTime", time_},
                 {"lastTransitionTime", time_},
                 {"reason", suspended_ ? "JobSuspended" : "JobResumed"},
                 {"message", suspended_ ? "Job suspended" : "Job resumed"}},
                time_);
  // The deadline counts from when it was resumed.
  if (suspended_) {
    status_.erase("startTime");
  } else {
    status_["startTime"] = time_;
  }
}

// Notes a pod that ended, or that ends with the Job. Returns whether it loses the finalizer.
bool JobPlanner::count(const json::object& pod) {
  const bool failed = has_failed(pod);
  const bool releases = sync::wire::is_terminating(job_) || ending_ || has_succeeded(pod) || failed;
  if (!releases) return false;
  const std::string uid(sync::wire::uid_of(pod));
  const auto index = valid_index(pod);
  if (has_succeeded(pod) && !uncounted_failed_.contains(uid)) {
    if (!indexed_) uncounted_succeeded_.insert(uid);
    if (index) counted_indexes_.add(*index);
  } else if ((failed || (ending_ && !ending_->succeeds())) && (!indexed_ || index)) {
    uncounted_failed_.insert(uid);
  }
  return true;
}

// Counts pods in two steps. First their uids are in the status and their finalizers are removed;
// then, in a later plan, they are without finalizers and only their number is kept.
void JobPlanner::track() {
  PodUids tracked;
  for (const json::object* pod : pods_) {
    if (is_tracked(*pod)) tracked.emplace(sync::wire::uid_of(*pod));
  }
  const auto settle = [this, &tracked](PodUids& uids, std::string_view field) {
    const std::size_t counted =
        std::erase_if(uids, [&tracked](const std::string& uid) { return !tracked.contains(uid); });
    status_[field] = sync::wire::dig_int(status_, {field}) + static_cast<std::int64_t>(counted);
  };
  settle(uncounted_succeeded_, "succeeded");
  settle(uncounted_failed_, "failed");
  for (const json::object* pod : pods_) {
    if (uncounted_succeeded_.size() + uncounted_failed_.size() >= limits_.uncounted) break;
    if (is_tracked(*pod) && count(*pod)) plan_.release.emplace_back(sync::wire::name_of(*pod));
  }
  status_["uncountedTerminatedPods"] = json::object{{"succeeded", to_list(uncounted_succeeded_)},
                                                    {"failed", to_list(uncounted_failed_)}};
  if (!indexed_) return;
  status_["succeeded"] = counted_indexes_.size();
  status_["completedIndexes"] = counted_indexes_.text();
}

void JobPlanner::set(const JobEnding& ending) {
  set_condition(status_,
                {{"type", ending.type},
                 {"status", "True"},
                 {"lastProbeTime", time_},
                 {"lastTransitionTime", time_},
                 {"reason", ending.reason},
                 {"message", ending.message}},
                time_);
}

// The final condition waits until all pods are counted and gone.
void JobPlanner::end() {
  if (!ending_) return;
  const bool announced = ending_->type == "Failed" || holds(job_, ending_->type);
  if (!announced) set(*ending_);
  const bool counted = uncounted_succeeded_.empty() && uncounted_failed_.empty();
  if (!counted || terminating_ > 0) return;
  set({ending_->succeeds() ? "Complete" : "Failed", ending_->reason, ending_->message});
  if (ending_->succeeds()) status_["completionTime"] = time_;
}

namespace {

// What is left to do for a Job that ended: release its pods, and delete it in time.
JobPlan plan_finished(const json::object& job, const Objects& pods, WallTime now) {
  JobPlan plan;
  plan.status = sync::wire::dig_object(job, {"status"});
  for (const json::object* pod : pods) {
    if (is_tracked(*pod)) plan.release.emplace_back(sync::wire::name_of(*pod));
  }
  if (sync::wire::dig(job, {"spec", "ttlSecondsAfterFinished"}) == nullptr) return plan;
  if (sync::wire::is_terminating(job)) return plan;
  const json::object* end = find_condition(plan.status, "Complete");
  if (end == nullptr || !holds(job, "Complete")) end = find_condition(plan.status, "Failed");
  const auto since = parse_rfc3339(sync::wire::dig_text(*end, {"lastTransitionTime"}));
  if (!since) return plan;
  const WallTime due =
      seconds_after(*since, sync::wire::dig_int(job, {"spec", "ttlSecondsAfterFinished"}));
  plan.expired = now >= due;
  if (!plan.expired) plan.again = due;
  return plan;
}

}  // namespace

bool is_job_finished(const json::object& job) {
  return holds(job, "Complete") || holds(job, "Failed");
}

JobPlan plan_job(const json::object& job, const Objects& pods, const JobBackoff& backoff,
                 WallTime now, const JobLimits& limits) {
  const std::string_view manager = sync::wire::dig_text(job, {"spec", "managedBy"});
  if (!manager.empty() && manager != own_name) {
    JobPlan plan;
    plan.status = sync::wire::dig_object(job, {"status"});
    return plan;
  }
  if (is_job_finished(job)) return plan_finished(job, pods, now);
  return JobPlanner(job, pods, now, limits).plan(backoff);
}

}  // namespace holdfast::agent::lab
