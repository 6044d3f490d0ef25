// The Job controller's plans, performed on objects in memory.

#include "agent/lab/loops/jobs.h"

#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

WallTime job_start() { return parse_rfc3339("2026-11-21T01:00:00Z").value(); }

json::object parsed(std::string_view text) { return json::parse(text).as_object(); }

json::object job_with(std::string_view spec) {
  json::object job = parsed(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"u"},)"
      R"("spec":{"parallelism":1,"completions":1,"backoffLimit":6,"completionMode":"NonIndexed",)"
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}],)"
      R"("restartPolicy":"Never"}}}})");
  for (const auto& field : parsed(spec)) job["spec"].as_object()[field.key()] = field.value();
  return job;
}

// A Job with its pods and a clock. Nodes are played by the test.
struct JobWorld {
  explicit JobWorld(std::string_view spec) : job(job_with(spec)) {}

  JobPlan plan() {
    Objects all;
    for (const auto& [name, pod] : pods) all.push_back(&pod);
    return plan_job(job, all, backoff, now);
  }

  void erase_if_gone(const std::string& name) {
    const json::object& pod = pods.at(name);
    const bool waits = is_tracked(pod) || pod.at("metadata").as_object().contains("grace");
    if (sync::wire::is_terminating(pod) && !waits) pods.erase(name);
  }
  void remove(const std::string& name) {
    json::object& metadata = pods.at(name).at("metadata").as_object();
    metadata["deletionTimestamp"] = format_rfc3339(now);
    erase_if_gone(name);
  }
  void release(const std::string& name) {
    pods.at(name) = released(pods.at(name));
    erase_if_gone(name);
  }

  // Performs plans until nothing changes. Pods get names "p0", "p1", ...
  void settle() {
    for (int round = 0; round < 20; ++round) {
      const auto before = std::pair(job, pods);
      JobPlan made = plan();
      backoff = made.backoff;
      again = made.again;
      expired = made.expired;
      for (const std::string& name : made.drop) {
        release(name);
        remove(name);
      }
      for (const std::string& name : made.remove) remove(name);
      for (json::object& pod : made.create) add(std::move(pod));
      job["status"] = made.status;
      for (const std::string& name : made.release) {
        if (pods.contains(name)) release(name);
      }
      if (before == std::pair(job, pods)) return;
    }
    ADD_FAILURE() << "the controller does not come to rest";
  }

  void add(json::object pod) {
    const std::string name = "p" + std::to_string(next++);
    json::object& metadata = pod["metadata"].as_object();
    metadata["name"] = name;
    metadata["uid"] = "uid-" + name;
    metadata["creationTimestamp"] = format_rfc3339(now);
    pod["status"] = json::object{{"phase", "Running"}};
    pods[name] = std::move(pod);
  }
  // The pod ends now.
  void finish(const std::string& name, std::string_view phase) {
    const json::object ended = {{"finishedAt", format_rfc3339(now)}};
    const json::object status = {{"state", json::object{{"terminated", ended}}}};
    pods.at(name)["status"] =
        json::object{{"phase", phase}, {"containerStatuses", json::array({status})}};
  }
  void pass(Duration time) {
    now += time;
    settle();
  }

  [[nodiscard]] std::string names() const {
    std::string text;
    for (const auto& [name, pod] : pods) {
      text += (text.empty() ? "" : " ") + name;
      if (sync::wire::is_terminating(pod)) text += "(ends)";
    }
    return text;
  }
  [[nodiscard]] std::int64_t counted(std::string_view field) const {
    return sync::wire::dig_int(job, {"status", field});
  }
  // "SuccessCriteriaMet=True/CompletionsReached ..."
  [[nodiscard]] std::string conditions() const {
    std::string text;
    for (const json::value& item : sync::wire::dig_list(job, {"status", "conditions"})) {
      const json::object& condition = item.as_object();
      if (!text.empty()) text += ' ';
      text += std::string(sync::wire::dig_text(condition, {"type"})) + "=" +
              std::string(sync::wire::dig_text(condition, {"status"})) + "/" +
              std::string(sync::wire::dig_text(condition, {"reason"}));
    }
    return text;
  }

  json::object job;
  std::map<std::string, json::object> pods;
  JobBackoff backoff;
  WallTime now = job_start();
  std::optional<WallTime> again;
  bool expired = false;
  int next = 0;
};

TEST(PlanJob, RunsItsPodsToCompletion) {
  JobWorld world(R"({"parallelism":2,"completions":3})");
  world.settle();
  EXPECT_EQ(world.names(), "p0 p1");
  EXPECT_EQ(json::serialize(world.job["status"]),
            R"({"startTime":"2026-11-21T01:00:00Z","active":2,"ready":0,"terminating":0,)"
            R"("succeeded":0,"failed":0,"uncountedTerminatedPods":{"succeeded":[],"failed":[]}})");
  world.finish("p0", "Succeeded");
  world.settle();
  EXPECT_EQ(world.names(), "p0 p1 p2");
  EXPECT_FALSE(is_tracked(world.pods["p0"]));
  EXPECT_EQ(world.counted("succeeded"), 1);
  world.finish("p1", "Succeeded");
  world.finish("p2", "Succeeded");
  world.pass(90s);
  EXPECT_EQ(world.names(), "p0 p1 p2");
  EXPECT_EQ(world.counted("succeeded"), 3);
  EXPECT_EQ(world.counted("active"), 0);
  EXPECT_EQ(world.conditions(),
            "SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached");
  EXPECT_EQ(sync::wire::dig_text(world.job, {"status", "completionTime"}), "2026-11-21T01:01:30Z");
}

// Every interruption between two steps of a plan must leave the counts right.
TEST(PlanJob, CountsEachPodOnce) {
  JobWorld world(R"({"parallelism":2,"completions":2})");
  world.settle();
  world.finish("p0", "Succeeded");
  JobPlan lost = world.plan();  // its status was written, but no pod was released
  world.job["status"] = lost.status;
  EXPECT_EQ(lost.release, std::vector<std::string>{"p0"});
  EXPECT_EQ(world.counted("succeeded"), 0);
  world.settle();
  EXPECT_EQ(world.counted("succeeded"), 1);
  EXPECT_EQ(world.names(), "p0 p1");
  world.pods.erase("p0");  // deleted by somebody
  world.settle();
  EXPECT_EQ(world.counted("succeeded"), 1);
  EXPECT_EQ(world.names(), "p1");
}

TEST(PlanJob, WaitsLongerAfterEachFailure) {
  JobWorld world(R"({"backoffLimit":2})");
  world.settle();
  world.finish("p0", "Failed");
  world.settle();
  EXPECT_EQ(world.names(), "p0");
  EXPECT_EQ(world.counted("failed"), 1);
  EXPECT_EQ(world.again, world.now + 10s);
  world.pass(9s);
  EXPECT_EQ(world.names(), "p0");
  world.pass(1s);
  EXPECT_EQ(world.names(), "p0 p1");
  world.finish("p1", "Failed");
  world.pass(19s);
  EXPECT_EQ(world.names(), "p0 p1");
  world.pass(1s);
  EXPECT_EQ(world.names(), "p0 p1 p2");
  world.finish("p2", "Failed");
  world.settle();
  EXPECT_EQ(world.counted("failed"), 3);
  EXPECT_EQ(world.conditions(),
            "FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded");
  world.pass(1h);
  EXPECT_EQ(world.names(), "p0 p1 p2");
}

// Upstream reports 0 during a back-off.
TEST(PlanJob, CountsTheActivePodsDuringABackOff) {
  JobWorld world(R"({"parallelism":2,"completions":2})");
  world.settle();
  world.finish("p0", "Failed");
  world.settle();
  EXPECT_EQ(world.names(), "p0 p1");
  EXPECT_EQ(world.again, world.now + 10s) << "it waits before it replaces p0";
  EXPECT_EQ(world.counted("active"), 1);
  world.pass(10s);
  EXPECT_EQ(world.names(), "p0 p1 p2");
  EXPECT_EQ(world.counted("active"), 2);
}

TEST(PlanJob, CountsRestartsOfContainers) {
  JobWorld world(R"({"backoffLimit":2})");
  world.job["spec"].at("template").at("spec").as_object()["restartPolicy"] = "OnFailure";
  world.settle();
  json::object& status = world.pods["p0"]["status"].as_object();
  status["containerStatuses"] = json::array({json::object{{"restartCount", 1}}});
  world.settle();
  EXPECT_EQ(world.conditions(), "");
  status["containerStatuses"] = json::array({json::object{{"restartCount", 2}}});
  world.settle();
  EXPECT_EQ(world.conditions(),
            "FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded");
  EXPECT_EQ(world.counted("failed"), 1);
  EXPECT_EQ(world.names(), "");
}

TEST(PlanJob, EndsAtItsDeadlineWhenItsPodsAreGone) {
  JobWorld world(R"({"activeDeadlineSeconds":30})");
  world.settle();
  EXPECT_EQ(world.again, world.now + 30s);
  world.pods["p0"]["metadata"].as_object()["grace"] = true;  // the node takes its time
  world.pass(30s);
  EXPECT_EQ(world.names(), "p0(ends)");
  EXPECT_EQ(world.conditions(), "FailureTarget=True/DeadlineExceeded");
  EXPECT_EQ(world.counted("terminating"), 1);
  world.pods.erase("p0");
  world.settle();
  EXPECT_EQ(world.conditions(), "FailureTarget=True/DeadlineExceeded Failed=True/DeadlineExceeded");
  EXPECT_EQ(world.counted("terminating"), 0);
  EXPECT_EQ(world.counted("failed"), 1);
}

TEST(PlanJob, HasNoPodsWhileItIsSuspended) {
  JobWorld world(R"({"suspend":true,"activeDeadlineSeconds":60})");
  world.settle();
  EXPECT_EQ(world.names(), "");
  EXPECT_EQ(world.conditions(), "Suspended=True/JobSuspended");
  EXPECT_FALSE(world.job["status"].as_object().contains("startTime"));
  world.now += 1h;
  world.job["spec"].as_object()["suspend"] = false;
  world.settle();
  EXPECT_EQ(world.names(), "p0");
  EXPECT_EQ(world.conditions(), "Suspended=False/JobResumed");
  EXPECT_EQ(sync::wire::dig_text(world.job, {"status", "startTime"}), "2026-11-21T02:00:00Z");
  world.job["spec"].as_object()["suspend"] = true;
  world.settle();
  EXPECT_EQ(world.names(), "");
  EXPECT_EQ(world.counted("failed"), 0);
  EXPECT_EQ(world.conditions(), "Suspended=True/JobSuspended");
}

TEST(PlanJob, FollowsItsParallelism) {
  JobWorld world(R"({"parallelism":3,"completions":5})");
  world.settle();
  world.job["spec"].as_object()["parallelism"] = 1;
  world.settle();
  EXPECT_EQ(world.pods.size(), 1u);
  EXPECT_EQ(world.counted("failed"), 0);
  world.job["spec"].as_object()["parallelism"] = 0;
  world.settle();
  EXPECT_EQ(world.names(), "");
}

TEST(PlanJob, NeedsOneSuccessWithoutCompletions) {
  JobWorld world(R"({"parallelism":2})");
  world.job["spec"].as_object().erase("completions");
  world.settle();
  EXPECT_EQ(world.names(), "p0 p1");
  world.finish("p0", "Succeeded");
  world.settle();
  EXPECT_EQ(world.names(), "p0 p1");
  EXPECT_EQ(world.conditions(), "");
  world.finish("p1", "Failed");
  world.settle();
  EXPECT_EQ(world.conditions(),
            "SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached");
}

TEST(PlanJob, RunsEachIndexOnce) {
  JobWorld world(R"({"parallelism":2,"completions":4,"completionMode":"Indexed"})");
  world.settle();
  EXPECT_EQ(world.names(), "p0 p1");
  const json::object& first = world.pods["p0"];
  EXPECT_EQ(completion_index(first), 0);
  EXPECT_EQ(sync::wire::dig_text(first, {"spec", "hostname"}), "j-0");
  EXPECT_EQ(sync::wire::dig_text(first, {"metadata", "generateName"}), "j-0-");
  EXPECT_EQ(json::serialize(sync::wire::dig_list(first, {"spec", "containers"})),
            R"([{"name":"c","env":[{"name":"JOB_COMPLETION_INDEX","valueFrom":{"fieldRef":)"
            R"({"apiVersion":"v1","fieldPath":)"
            R"("metadata.labels['batch.kubernetes.io/job-completion-index']"}}}]}])");
  world.finish("p1", "Succeeded");
  world.settle();
  EXPECT_EQ(completion_index(world.pods["p2"]), 2);
  world.finish("p2", "Succeeded");
  world.finish("p0", "Failed");
  world.settle();
  EXPECT_EQ(sync::wire::dig_text(world.job, {"status", "completedIndexes"}), "1,2");
  world.pass(10s);
  EXPECT_EQ(completion_index(world.pods["p3"]), 0);
  EXPECT_EQ(completion_index(world.pods["p4"]), 3);
  world.finish("p3", "Succeeded");
  world.finish("p4", "Succeeded");
  world.settle();
  EXPECT_EQ(sync::wire::dig_text(world.job, {"status", "completedIndexes"}), "0-3");
  EXPECT_EQ(world.counted("succeeded"), 4);
  EXPECT_EQ(world.counted("failed"), 1);
}

TEST(PlanJob, DropsPodsWithoutAnIndexOfTheirOwn) {
  JobWorld world(R"({"parallelism":2,"completions":2,"completionMode":"Indexed"})");
  world.settle();
  world.add(job_pod(world.job, 1));
  world.add(job_pod(world.job, 7));
  world.add(job_pod(world.job, std::nullopt));
  world.settle();
  std::string indexes;
  for (const auto& [name, pod] : world.pods) {
    indexes += std::to_string(completion_index(pod).value_or(-1));
  }
  EXPECT_EQ(indexes, "01");
  EXPECT_EQ(world.counted("failed"), 0);
}

TEST(PlanJob, ReplacesADeletedPodAtOnceOrWhenItHasEnded) {
  for (const std::string_view policy : {"TerminatingOrFailed", "Failed"}) {
    JobWorld world(R"({"podReplacementPolicy":")" + std::string(policy) + R"("})");
    world.settle();
    world.pods["p0"]["metadata"].as_object()["grace"] = true;
    world.remove("p0");
    world.pass(11s);
    EXPECT_EQ(world.names(), policy == "Failed" ? "p0(ends)" : "p0(ends) p1") << policy;
    EXPECT_EQ(world.counted("failed"), policy == "Failed" ? 0 : 1) << policy;
  }
}

TEST(PlanJob, IsDeletedSomeTimeAfterItEnded) {
  JobWorld world(R"({"ttlSecondsAfterFinished":60})");
  world.settle();
  world.finish("p0", "Succeeded");
  world.settle();
  world.pass(59s);
  EXPECT_FALSE(world.expired);
  EXPECT_EQ(world.again, world.now + 1s);
  world.pass(1s);
  EXPECT_TRUE(world.expired);
}

TEST(PlanJob, LeavesJobsOfOtherControllersAlone) {
  JobWorld world(R"({"managedBy":"example.com/queue"})");
  world.settle();
  EXPECT_EQ(world.names(), "");
  EXPECT_EQ(world.job["status"], json::value(json::object()));
}

TEST(PlanJob, SurvivesForgedStatuses) {
  JobWorld world(R"({"parallelism":1,"completions":1,"activeDeadlineSeconds":9223372036854775807,)"
                 R"("ttlSecondsAfterFinished":2147483647})");
  world.job["status"] =
      parsed(R"({"startTime":"2261-12-31T23:59:59Z","completedIndexes":"0-99999999999999999999",)"
             R"("uncountedTerminatedPods":{"succeeded":[1,null],"failed":7},"conditions":[3,{}]})");
  world.settle();
  EXPECT_EQ(world.names(), "p0");
  world.job["status"] = parsed(R"({"conditions":[{"type":"Complete","status":"True",)"
                               R"("lastTransitionTime":"2261-12-31T23:59:59Z"}]})");
  world.settle();
  EXPECT_FALSE(world.expired);
}

}  // namespace
}  // namespace holdfast::agent::lab
