// An outage in which more is written than the outbox holds.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::full_outbox {
namespace {

using sync::autonomy::LinkState;

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* our_pods =
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0";
constexpr std::size_t message_bytes = 2UL << 20;
constexpr int fitting = 7;  // with what surrounds them; the outbox holds 16 MiB

std::string name_of(int number) { return "p" + std::to_string(number); }

http::Request status_of(int number) {
  http::Request request{.method = http::Method::patch,
                        .target = std::string(pods) + "/" + name_of(number) + "/status",
                        .headers = {{"User-Agent", "kubelet/v1"},
                                    {"Content-Type", "application/strategic-merge-patch+json"}}};
  request.body = R"({"metadata":{"uid":"uid-)" + name_of(number) + R"("},"status":{"message":")" +
                 std::string(message_bytes, 'x') + "\"}}";
  return request;
}

TEST(FullOutbox, RefusesAWriteAndChangesNothing) {
  UplinkFixture fixture;
  for (int number = 0; number <= fitting; ++number) {
    fixture.cloud.put(pods, name_of(number),
                      R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Running"}})");
  }
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(our_pods).status, 200);
  fixture.time.run(5s);
  fixture.cut_link();
  for (int number = 0; number < fitting; ++number) {
    const http::Response kept = fixture.ask(status_of(number));
    ASSERT_EQ(kept.status, 200) << number << " " << kept.body.substr(0, 300);
  }
  const std::string last = std::string(pods) + "/" + name_of(fitting);
  const http::Response before = fixture.ask(last);
  const http::Response refused = fixture.ask(status_of(fitting));
  EXPECT_EQ(refused.status, 507) << refused.body.substr(0, 300);
  EXPECT_NE(refused.body.find("the write could not be kept for the cloud: "), std::string::npos)
      << refused.body;
  EXPECT_EQ(fixture.ask(last).body, before.body);
  EXPECT_EQ(fixture.state(), LinkState::offline);
  // The server answers 429 to so many bytes at the same time. The kubelet tries again later.
  fixture.restore_link();
  const auto arrived = [&fixture](int number) {
    return fixture.cloud.object(pods, name_of(number)).find("xxx") != std::string::npos;
  };
  for (int number = 0; number < fitting; ++number) {
    EXPECT_TRUE(fixture.time.run_until(2min, [&] { return arrived(number); })) << number;
  }
  EXPECT_EQ(fixture.ask(status_of(fitting)).status, 200);
  EXPECT_TRUE(arrived(fitting));
}

}  // namespace
}  // namespace holdfast::agent::uplink::full_outbox
