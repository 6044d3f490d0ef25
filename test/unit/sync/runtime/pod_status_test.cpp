// The whole status, as it is sent to the API server.

#include "sync/runtime/pod_status.h"

#include "sync/wire/codec.h"
#include "test/unit/sync/runtime/pods.h"

namespace holdfast::sync::runtime {
namespace {

using namespace std::chrono_literals;

const WallTime wall = parse_rfc3339("2026-11-21T10:00:00Z").value();

Attempt running(std::int32_t number) {
  return {.number = number,
          .restarts = number,
          .state = AttemptState::running,
          .started_wall = wall + 2500ms};
}

Attempt ended(std::int32_t number, ContainerExit exit, Duration next_delay = 0s) {
  return {.number = number,
          .restarts = number,
          .next_delay = next_delay,
          .state = AttemptState::ended,
          .started_wall = wall + 1s,
          .ended_wall = wall + 2s,
          .started = MonoTime(1s),
          .ended = MonoTime(2s),
          .exit = std::move(exit)};
}

ContainerExit code(int number) { return {ContainerExit::Kind::code, number, ""}; }

PodStatus status_of(const Pod& pod, const ObservedPod& observed, const PodStatus* reported = {}) {
  const StatusFacts facts{.node = {.node_name = "edge-a", .host_ip = "127.0.0.1"},
                          .now_wall = wall + 9s,
                          .accepted_wall = wall + 500ms};
  return make_pod_status(pod, view_containers(pod, observed, {}), facts, reported);
}

const std::string ips = R"("hostIP":"127.0.0.1","podIP":"127.0.0.1","podIPs":[{"ip":"127.0.0.1"}],)"
                        R"("startTime":"2026-11-21T10:00:00Z")";

std::string condition(const std::string& type, bool holds, const std::string& why = "") {
  return R"({"type":")" + type + R"(","status":")" + (holds ? "True" : "False") +
         R"(","lastProbeTime":null,"lastTransitionTime":"2026-11-21T10:00:09Z")" + why + "}";
}

const std::string unready = R"(,"reason":"ContainersNotReady",)"
                            R"("message":"containers with unready status: [c]")";

std::string conditions(bool ready, const std::string& why = "") {
  return R"("conditions":[)" + condition("Initialized", true) + "," +
         condition("Ready", ready, why) + "," + condition("ContainersReady", ready, why) + "," +
         condition("PodScheduled", true) + "]";
}

TEST(PodStatus, Running) {
  const auto pod = test::simple_pod("web");
  EXPECT_EQ(wire::serialize(wire::encode_part(status_of(*pod, {{"c", {running(0)}}}))),
            R"({"phase":"Running",)" + conditions(true) + "," + ips +
                R"(,"containerStatuses":[{"name":"c",)"
                R"("state":{"running":{"startedAt":"2026-11-21T10:00:02Z"}},"lastState":{},)"
                R"("ready":true,"restartCount":0,"image":"i","imageID":"",)"
                R"("containerID":"process://uid-web/c/0","started":true}]})");
}

TEST(PodStatus, CrashLoop) {
  const auto pod = test::simple_pod("web");
  const ContainerExit killed{ContainerExit::Kind::signal, 9, ""};
  const ObservedPod observed = {{"c", {ended(1, code(3)), ended(2, killed, 20s)}}};
  const std::string container =
      R"j({"name":"c","state":{"waiting":{"reason":"CrashLoopBackOff",)j"
      R"j("message":"back-off 20s restarting failed container=c pod=web_default(uid-web)"}},)j"
      R"j("lastState":{"terminated":{"exitCode":137,"reason":"Error",)j"
      R"j("startedAt":"2026-11-21T10:00:01Z","finishedAt":"2026-11-21T10:00:02Z",)j"
      R"j("containerID":"process://uid-web/c/2"}},"ready":false,"restartCount":2,)j"
      R"j("image":"i","imageID":"","containerID":"process://uid-web/c/2","started":false})j";
  EXPECT_EQ(wire::serialize(wire::encode_part(status_of(*pod, observed))),
            R"({"phase":"Running",)" + conditions(false, unready) + "," + ips +
                R"(,"containerStatuses":[)" + container + "]}");
}

TEST(PodStatus, HowContainersEnd) {
  using Kind = ContainerExit::Kind;
  const struct {
    ContainerExit exit;
    std::int32_t code;
    std::string reason;
  } rows[] = {
      {{Kind::code, 0, ""}, 0, "Completed"},
      {{Kind::code, 7, ""}, 7, "Error"},
      {{Kind::signal, 15, ""}, 143, "Error"},
      {{Kind::unknown, 0, "lost"}, 137, "ContainerStatusUnknown"},
      {{Kind::failed, 0, "start x: No such file or directory"}, 128, "StartError"},
  };
  const auto pod = test::simple_pod("web");
  pod->spec.restart_policy = "Never";
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    const PodStatus status = status_of(*pod, {{"c", {ended(0, row.exit)}}});
    const auto& state = status.container_statuses.at(0).state.terminated;
    ASSERT_TRUE(state);
    EXPECT_EQ(state->exit_code, row.code);
    EXPECT_EQ(state->reason, row.reason);
    EXPECT_EQ(state->message, row.exit.message);
    EXPECT_EQ(status.phase, row.code == 0 ? "Succeeded" : "Failed");
    EXPECT_EQ(find_condition(status, "Ready")->reason,
              row.code == 0 ? "PodCompleted" : "PodFailed");
  }
}

TEST(PodStatus, PhasesByPolicy) {
  const struct {
    std::string policy;
    Attempts attempts;
    bool stopped;
    std::string phase;
  } rows[] = {
      {"Always", {}, false, "Pending"},
      {"Always", {{.state = AttemptState::created}}, false, "Pending"},
      {"Always", {running(0)}, false, "Running"},
      {"Always", {ended(0, code(0))}, false, "Running"},
      {"Always", {ended(0, code(0))}, true, "Succeeded"},
      {"Always", {ended(0, code(1))}, true, "Failed"},
      {"Always", {}, true, "Failed"},
      {"OnFailure", {ended(0, code(1))}, false, "Running"},
      {"OnFailure", {ended(0, code(0))}, false, "Succeeded"},
      {"Never", {ended(0, code(0))}, false, "Succeeded"},
      {"Never", {ended(0, code(1))}, false, "Failed"},
      {"Always", {ended(0, {ContainerExit::Kind::never_began, 0, ""})}, false, "Pending"},
  };
  for (const auto& row : rows) {
    const auto pod = test::simple_pod("web");
    pod->spec.restart_policy = row.policy;
    const auto views = view_containers(*pod, {{"c", row.attempts}}, {});
    const PodStatus status = make_pod_status(*pod, views, {.stopped = row.stopped}, nullptr);
    EXPECT_EQ(status.phase, row.phase) << row.policy << " " << test::summary(status);
  }
}

TEST(PodStatus, InitContainersInOrder) {
  const auto pod = test::pod_from(
      R"({"metadata":{"namespace":"n","name":"p","uid":"u"},"spec":{"restartPolicy":"Never",
          "initContainers":[{"name":"a"},{"name":"b"},{"name":"s","restartPolicy":"Always"}],
          "containers":[{"name":"c"}]}})");
  const Attempts done = {ended(0, code(0))};
  const struct {
    ObservedPod observed;
    std::string summary;
    std::string initialized;  // the message of the condition; empty: it is True
  } rows[] = {
      {{{"a", {running(0)}}},
       "Pending a=running b=PodInitializing s=PodInitializing c=PodInitializing",
       "containers with incomplete status: [a b s]"},
      {{{"a", done}, {"b", done}, {"s", {running(0)}}},
       "Pending a=exit 0 b=exit 0 s=running c=PodInitializing",
       ""},
      {{{"a", done}, {"b", {ended(0, code(1))}}},
       "Failed a=exit 0 b=exit 1 s=PodInitializing c=PodInitializing",
       "containers with incomplete status: [b s]"},
      {{{"a", done}, {"b", done}, {"s", {running(0)}}, {"c", {running(0)}}},
       "Running Ready a=exit 0 b=exit 0 s=running c=running",
       ""},
      {{{"a", done}, {"b", done}, {"s", done}, {"c", done}},
       "Succeeded a=exit 0 b=exit 0 s=exit 0 c=exit 0",
       ""},
  };
  for (const auto& row : rows) {
    const PodStatus status = status_of(*pod, row.observed);
    EXPECT_EQ(test::summary(status), row.summary);
    EXPECT_EQ(find_condition(status, "Initialized")->message, row.initialized) << row.summary;
    EXPECT_EQ(find_condition(status, "Initialized")->status,
              row.initialized.empty() ? "True" : "False");
  }
}

TEST(PodStatus, KeepsWhatOthersWroteAndTheTimesOfWhatStayed) {
  const auto pod = test::simple_pod("web");
  pod->status = test::pod_from(
                    R"({"status":{"phase":"Pending","qosClass":"BestEffort","nominatedNodeName":"n",
      "hostIPs":[{"ip":"192.0.2.1"}],"startTime":"2026-11-21T09:00:00Z","conditions":[
      {"type":"DisruptionTarget","status":"True","lastTransitionTime":"2026-11-21T09:30:00Z"},
      {"type":"Ready","status":"False","lastTransitionTime":"2026-11-21T09:40:00Z"},
      {"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-21T09:00:00Z"}]}})")
                    ->status;
  PodStatus reported;
  reported.conditions = {PodCondition{"Ready", "True", {}, wall + 3s, "", "", {}}};
  const PodStatus status = status_of(*pod, {{"c", {running(0)}}}, &reported);
  std::vector<std::string> times;
  for (const PodCondition& known : status.conditions) {
    times.push_back(known.type + " " + known.status + " " +
                    format_rfc3339(*known.last_transition_time));
  }
  EXPECT_EQ(times,
            (std::vector<std::string>{
                "DisruptionTarget True 2026-11-21T09:30:00Z", "Ready True 2026-11-21T10:00:03Z",
                "PodScheduled True 2026-11-21T09:00:00Z", "Initialized True 2026-11-21T10:00:09Z",
                "ContainersReady True 2026-11-21T10:00:09Z"}));
  EXPECT_EQ(status.qos_class, "BestEffort");
  EXPECT_EQ(status.nominated_node_name, "n");
  EXPECT_EQ(format_rfc3339(*status.start_time), "2026-11-21T09:00:00Z");
  EXPECT_FALSE(status.unknown_fields.empty());
}

TEST(PodStatus, AProblemIsToldWithTheLastEnd) {
  const auto pod = test::simple_pod("web");
  auto views = view_containers(*pod, {{"c", {ended(0, code(1))}}}, {});
  views[0].problem = {"CreateContainerConfigError", "configmap \"a\" not found", {}};
  const PodStatus status = make_pod_status(*pod, views, {}, nullptr);
  const ContainerStatus& container = status.container_statuses.at(0);
  ASSERT_TRUE(container.state.waiting);
  EXPECT_EQ(*container.state.waiting, views[0].problem);
  ASSERT_TRUE(container.last_state.terminated);
  EXPECT_EQ(container.last_state.terminated->exit_code, 1);
}

}  // namespace
}  // namespace holdfast::sync::runtime
