#include "sync/runtime/failure_events.h"

namespace holdfast::sync::runtime {
namespace {

ContainerStatus waiting(std::string reason, std::string message) {
  ContainerStatus status;
  status.name = "c";
  status.state.waiting = ContainerWaiting{std::move(reason), std::move(message), {}};
  return status;
}

ContainerStatus failed_start(int number, std::string back_off) {
  ContainerStatus status = waiting("CrashLoopBackOff", std::move(back_off));
  ContainerTerminated failed;
  failed.reason = "StartError";
  failed.message = "no such file";
  failed.container_id = "process://u/c/" + std::to_string(number);
  status.last_state.terminated = failed;
  return status;
}

PodStatus of(ContainerStatus status) {
  PodStatus made;
  made.container_statuses.push_back(std::move(status));
  return made;
}

TEST(FailureEvents, EachFailureIsToldOnce) {
  const PodStatus creating = of(waiting("ContainerCreating", ""));
  const PodStatus config = of(waiting("CreateContainerConfigError", "secret \"s\" not found"));
  const PodStatus first = of(failed_start(1, "back-off 10s restarting failed container=c"));
  const PodStatus second = of(failed_start(2, "back-off 20s restarting failed container=c"));
  using Events = std::vector<FailureEvent>;
  const FailureEvent error{"Failed", "Error: container c: no such file"};
  struct Case {
    const char* what;
    PodStatus before;
    PodStatus now;
    Events events;
  };
  const Case cases[] = {
      {"nothing is wrong", {}, creating, {}},
      {"configuration",
       creating,
       config,
       {{"Failed", "Error: container c: secret \"s\" not found"}}},
      {"the same again", config, config, {}},
      {"start",
       creating,
       first,
       {error, {"BackOff", "Back-off 10s restarting failed container=c"}}},
      {"the same attempt", first, first, {}},
      {"the next attempt",
       first,
       second,
       {error, {"BackOff", "Back-off 20s restarting failed container=c"}}},
  };
  for (const Case& c : cases) EXPECT_EQ(failure_events(c.before, c.now), c.events) << c.what;
}

TEST(FailureEvents, AreWarningsAboutThePod) {
  const Event event =
      make_event({"ns", "a", "u1"}, {"Failed", "m"}, "edge", WallTime(Duration(255)));
  EXPECT_EQ(event.metadata.namespace_name, "ns");
  EXPECT_EQ(event.metadata.name, "a.ff");
  EXPECT_EQ(event.involved_object.uid, "u1");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.source.host, "edge");
}

}  // namespace
}  // namespace holdfast::sync::runtime
