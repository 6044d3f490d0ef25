// If the kubelet is dead, the agent stops renewing the node's lease, but the link stays connected.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/replay/stage.h"

namespace holdfast::agent::replay {
namespace {

int renewals_in(Stage& stage, Duration time) {
  const int before = stage.upstream.renewals;
  stage.time.run(time);
  return stage.upstream.renewals - before;
}

void expect_silence(Stage& stage) {
  stage.time.run(41s);  // the grace period
  EXPECT_EQ(renewals_in(stage, 60s), 0);
  EXPECT_EQ(stage.edge().uplink().link().state(), sync::autonomy::LinkState::connected);
}

class KubeletSilence : public testing::TestWithParam<Session> {};

TEST_P(KubeletSilence, EndsTheRenewalsAndNothingElse) {
  Stage stage(GetParam());
  const Exchange& renewal = stage.recording.first_renewal();
  stage.play(renewal.line, [](const Exchange&, const http::Response&) {});
  EXPECT_EQ(renewals_in(stage, 30s), 3);
  expect_silence(stage);

  // Its first request after that resumes the renewals, with the next probe.
  EXPECT_EQ(stage.ask(renewal.request).status, 200);
  EXPECT_EQ(renewals_in(stage, 30s), 3);
  expect_silence(stage);

  stage.restart_agent();
  EXPECT_GT(renewals_in(stage, 30s), 2) << "a restarted agent grants a full grace";
  expect_silence(stage);
}

TEST_P(KubeletSilence, AStatusIsAWord) {
  Stage stage(GetParam());
  stage.play(stage.recording.first_renewal().line, [](const Exchange&, const http::Response&) {});
  stage.cut();
  for (int i = 0; i < 6; ++i) {
    http::Request patch{.method = http::Method::patch,
                        .target = "/api/v1/nodes/edge1/status",
                        .headers = {{"Content-Type", "application/strategic-merge-patch+json"}},
                        .body = "{}"};
    EXPECT_EQ(stage.ask(patch).status, 200);
    stage.time.run(10s);
  }
  stage.upstream.listen();
  EXPECT_GE(renewals_in(stage, 35s), 1);
}

INSTANTIATE_TEST_SUITE_P(Sessions, KubeletSilence, testing::ValuesIn(sessions),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace holdfast::agent::replay
