// Which state answers a get, list or watch: every combination of parameters as a
// kube-apiserver 1.36 answers it.

#include "sync/wire/read.h"
#include "test/support/version_rows.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

constexpr std::string_view counted_maps = "/api/v1/namespaces/versions/configmaps";

class ResourceVersions : public ::testing::Test {
 protected:
  ResourceVersions() {
    fixture_.post("/api/v1/namespaces", {{"metadata", boost::json::object{{"name", "versions"}}}});
    for (int number = 1; number <= 8; ++number) {
      const boost::json::object made = fixture_.post(
          std::string(counted_maps),
          {{"metadata", boost::json::object{{"name", "m" + std::to_string(number)}}}});
      versions_.current = sync::wire::version_of(made);
      if (number == 3) versions_.old = versions_.current;
    }
    versions_.ahead = std::to_string(std::stoll(versions_.current) + 1'000'000);
  }

  ApiServerFixture fixture_{options_without_controllers()};
  KnownVersions versions_;
};

TEST_F(ResourceVersions, AreAnsweredLikeAKubeApiserver) {
  for (const VersionRow& row : load_version_rows()) {
    const MonoTime asked = fixture_.clock().mono();
    const TestResponse got =
        fixture_.ask({.target = row.target(std::string(counted_maps), "m1", versions_)});
    const Duration took = fixture_.clock().mono() - asked;
    const std::vector<std::string> lines =
        got.stream ? fixture_.lines_now(got) : std::vector<std::string>{};
    const http::Response answer{.status = got.status, .headers = got.headers, .body = got.body};
    EXPECT_EQ(describe_answer(row, answer, lines, took, versions_), row.expected) << row.text();
  }
}

}  // namespace
}  // namespace holdfast::test
