// The audit log has one line for every request, whatever its result.

#include "agent/lab/apiserver/audit.h"

#include "platform/fs/file.h"
#include "platform/text.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  const std::string text = fs::read_all(file, 1 << 20).value();
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

TEST(Audit, EveryRequestLeavesALine) {
  const ScratchDir scratch;
  const auto file = scratch.path() / "audit.log";
  agent::lab::ApiServerOptions options;
  options.audit_log = file;
  ApiServerFixture fixture(std::move(options));
  (void)fixture.ask({.target = "/api/v1/namespaces/default/pods/none"});
  (void)fixture.ask({.method = "DELETE", .target = "/apis/apps/v1/namespaces/a/deployments/b"});
  (void)fixture.ask({.target = "/healthz"});
  (void)fixture.ask({.target = "/api/v1/../x"});
  const std::string head = R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata",)"
                           R"("stage":"ResponseComplete","requestURI":)";
  const std::string anonymous = R"("user":{"username":"system:anonymous"},"userAgent":"",)";
  const std::string time = R"("requestReceivedTimestamp":"2026-11-21T01:23:14.000000Z")";
  const std::vector<std::string> expected = {
      head + R"("/api/v1/namespaces/default/pods/none","verb":"get",)" + anonymous +
          R"("responseStatus":{"code":404},)" + time +
          R"(,"objectRef":{"resource":"pods","namespace":"default","name":"none",)"
          R"("apiVersion":"v1"}})",
      head + R"("/apis/apps/v1/namespaces/a/deployments/b","verb":"delete",)" + anonymous +
          R"("responseStatus":{"code":404},)" + time +
          R"(,"objectRef":{"resource":"deployments","namespace":"a","name":"b",)"
          R"("apiGroup":"apps","apiVersion":"v1"}})",
      head + R"("/healthz","verb":"get",)" + anonymous + R"("responseStatus":{"code":200},)" +
          time + "}",
      head + R"("/api/v1/../x","verb":"","user":{"username":""},"userAgent":"",)" +
          R"("responseStatus":{"code":400},)" + time + "}",
  };
  EXPECT_EQ(lines_of(file), expected);
}

TEST(Audit, NamesTheCallerAndWhomHeActsAs) {
  const ScratchDir scratch;
  agent::lab::ApiServerOptions options;
  options.tokens = "root,admin,1,\"system:masters\"\n";
  options.audit_log = scratch.path() / "audit.log";
  ApiServerFixture fixture(options);
  (void)fixture.ask(
      {.target = "/api/v1/pods", .token = "root", .headers = {{"Impersonate-User", "ann"}}});
  const std::string line = lines_of(options.audit_log).at(0);
  EXPECT_NE(line.find(R"("user":{"username":"admin"})"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("impersonatedUser":{"username":"ann"})"), std::string::npos) << line;
}

TEST(Audit, AFileThatCannotBeWrittenIsRefusedAtTheStart) {
  const ScratchDir scratch;
  const auto opened = agent::lab::AuditLog::open(scratch.path() / "none" / "audit.log");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::not_found);
}

}  // namespace
}  // namespace holdfast::test
