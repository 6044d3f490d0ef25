// The Job controller: which pods run, and when the Job is complete or has failed.
//
// Each pod has a finalizer until it is counted in the status, so that none is counted twice or
// never. The caller performs a plan in this order: drop, remove, create, write the status, release.
// If it is interrupted, the next plan continues.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/lab/loops/job_backoff.h"
#include "agent/lab/loops/replicas.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

inline constexpr std::string_view tracking_finalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view index_note = "batch.kubernetes.io/job-completion-index";

struct JobPlan {
  std::vector<std::string> drop;            // pods to release and delete; they do not count
  std::vector<std::string> remove;          // pods to delete; they count as failed
  std::vector<boost::json::object> create;  // pods
  boost::json::object status;
  std::vector<std::string> release;  // pods that lose the finalizer
  JobBackoff backoff;
  std::optional<WallTime> again;  // when to plan again if nothing changes until then
  bool expired = false;           // its ttlSecondsAfterFinished has passed: delete the Job
};

struct JobLimits {
  std::size_t burst = 500;      // pods created or dropped per plan
  std::size_t uncounted = 500;  // pods in status.uncountedTerminatedPods
};

// `pods` are the pods in the Job's namespace that it controls. `backoff` is that of the last plan.
[[nodiscard]] JobPlan plan_job(const boost::json::object& job, const Objects& pods,
                               const JobBackoff& backoff, WallTime now,
                               const JobLimits& limits = {});

// Whether the Job is complete or has failed.
[[nodiscard]] bool is_job_finished(const boost::json::object& job);

// Whether the pod still waits to be counted.
[[nodiscard]] bool is_tracked(const boost::json::object& pod);
// The pod without the finalizer.
[[nodiscard]] boost::json::object released(boost::json::object pod);

// A pod of the Job. `index` is its completion index, if the Job has indexes.
[[nodiscard]] boost::json::object job_pod(const boost::json::object& job,
                                          std::optional<std::int64_t> index);
// The completion index of a pod; none if it has none.
[[nodiscard]] std::optional<std::int64_t> completion_index(const boost::json::object& pod);

}  // namespace holdfast::agent::lab
