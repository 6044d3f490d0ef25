// A node that reboots in an orderly way during an outage: its kubelet ends its pods before.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::reboot {
namespace {

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* list_of_node = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
constexpr const char* running =
    R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Running","conditions":[)"
    R"({"type":"Ready","status":"True"}]}})";

std::string ended(const std::string& reason, const std::string& phase = "Failed") {
  return R"({"metadata":{"uid":"uid-p"},"status":{"phase":")" + phase + R"(","reason":")" + reason +
         R"("}})";
}

http::Response report(UplinkFixture& fixture, const std::string& status) {
  http::Request request{
      .method = http::Method::patch, .target = std::string(pods) + "/p/status", .body = status};
  request.headers.add("User-Agent", "kubelet/v1");
  request.headers.add("Content-Type", "application/strategic-merge-patch+json");
  return fixture.ask(std::move(request));
}

std::string phase_of(const std::string& pod) {
  const auto object = sync::wire::parse_json(pod).value();
  return std::string(object.at_pointer("/status/phase").as_string());
}

std::string pod_records(UplinkFixture& fixture) {
  std::string told;
  const auto rows = sync::wire::parse_json(fixture.admin("/v1/journal?limit=1000")).value();
  for (const auto& row : rows.as_array()) {
    if (row.at("kind") == "pod") told += std::string(row.at("what").as_string()) + "\n";
  }
  return told;
}

// A connected agent whose kubelet runs the pod a/p.
struct RunningPod : UplinkFixture {
  RunningPod() {
    cloud.put(pods, "p", running);
    EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
    EXPECT_EQ(ask(list_of_node).status, 200);
  }
};

TEST(Reboot, OfflineAPodThatItEndsStays) {
  const struct {
    const char* reason;
    const char* phase;
    bool stays;
  } rows[] = {{"Terminated", "Failed", true},
              {"Terminated", "Succeeded", true},
              {"Shutdown", "Failed", true},
              {"NodeShutdown", "Failed", true},
              {"UnexpectedAdmissionError", "Failed", true},
              {"OutOfe.com/gpu", "Failed", true},
              {"OutOfcpu", "Failed", false},
              {"NodeAffinity", "Failed", false},
              {"Evicted", "Failed", false},
              {"DeadlineExceeded", "Failed", false},
              {"", "Failed", false},
              {"", "Succeeded", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.phase) + " " + row.reason);
    RunningPod fixture;
    fixture.cut_link();
    const std::size_t from = fixture.cloud.asked.size();
    for (int repeated = 0; repeated < 2; ++repeated) {
      const http::Response told = report(fixture, ended(row.reason, row.phase));
      EXPECT_EQ(told.status, 200);
      EXPECT_EQ(phase_of(told.body), row.phase) << "so that the kubelet goes on";
    }
    fixture.stop();
    fixture.start();  // the boot
    const std::string stored = fixture.ask(std::string(pods) + "/p").body;
    EXPECT_EQ(phase_of(stored), row.stays ? "Running" : row.phase);
    EXPECT_EQ(pod_records(fixture), row.stays ? "kept: the kubelet ended it because of a reboot (" +
                                                    std::string(row.reason) +
                                                    "), and nobody could replace it\n"
                                              : "");
    fixture.restore_link();
    fixture.time.run(10s);
    EXPECT_EQ(fixture.cloud.count("PATCH " + std::string(pods) + "/p/status", from),
              row.stays ? 0 : 1);
  }
}

TEST(Reboot, ConnectedThePodEnds) {
  RunningPod fixture;
  EXPECT_EQ(report(fixture, ended("Terminated")).status, 200);
  EXPECT_EQ(phase_of(fixture.cloud.object(pods, "p")), "Failed");
  EXPECT_EQ(pod_records(fixture), "");
}

}  // namespace
}  // namespace holdfast::agent::uplink::reboot
