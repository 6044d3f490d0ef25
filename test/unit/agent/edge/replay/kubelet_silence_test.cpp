// If the kubelet is dead, the agent stops renewing the node's lease, but the link stays connected.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/replay/replay_fixture.h"

namespace holdfast::agent::replay {
namespace {

int renewals_in(ReplayFixture& fixture, Duration time) {
  const int before = fixture.upstream.renewals;
  fixture.time.run(time);
  return fixture.upstream.renewals - before;
}

void expect_silence(ReplayFixture& fixture) {
  fixture.time.run(41s);  // the grace period
  EXPECT_EQ(renewals_in(fixture, 60s), 0);
  EXPECT_EQ(fixture.edge().uplink().link().state(), sync::autonomy::LinkState::connected);
}

class KubeletSilence : public testing::TestWithParam<Session> {};

TEST_P(KubeletSilence, EndsTheRenewalsAndNothingElse) {
  ReplayFixture fixture(GetParam());
  const Exchange& renewal = fixture.recording.first_renewal();
  fixture.play(renewal.line, [](const Exchange&, const http::Response&) {});
  EXPECT_EQ(renewals_in(fixture, 30s), 3);
  expect_silence(fixture);

  // Its first request after that resumes the renewals, with the next probe.
  EXPECT_EQ(fixture.ask(renewal.request).status, 200);
  EXPECT_EQ(renewals_in(fixture, 30s), 3);
  expect_silence(fixture);

  fixture.restart_agent();
  EXPECT_GT(renewals_in(fixture, 30s), 2) << "a restarted agent grants a full grace";
  expect_silence(fixture);
}

TEST_P(KubeletSilence, AStatusIsAWord) {
  ReplayFixture fixture(GetParam());
  fixture.play(fixture.recording.first_renewal().line,
               [](const Exchange&, const http::Response&) {});
  fixture.cut();
  for (int i = 0; i < 6; ++i) {
    http::Request patch{.method = http::Method::patch,
                        .target = "/api/v1/nodes/edge1/status",
                        .headers = {{"Content-Type", "application/strategic-merge-patch+json"}},
                        .body = "{}"};
    EXPECT_EQ(fixture.ask(patch).status, 200);
    fixture.time.run(10s);
  }
  fixture.upstream.listen();
  EXPECT_GE(renewals_in(fixture, 35s), 1);
}

INSTANTIATE_TEST_SUITE_P(Sessions, KubeletSilence, testing::ValuesIn(sessions),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace holdfast::agent::replay
