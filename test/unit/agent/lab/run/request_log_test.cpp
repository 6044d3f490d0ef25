// Counting the requests of an audit log.

#include "agent/lab/run/request_log.h"

#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::lab::run {
namespace {

using namespace std::chrono_literals;

TEST(LabRequestLog, NamesClasses) {
  EXPECT_EQ(class_of("update", "leases", ""), "lease");
  EXPECT_EQ(class_of("get", "leases", ""), "lease");
  EXPECT_EQ(class_of("watch", "leases", ""), "watch");
  EXPECT_EQ(class_of("list", "pods", ""), "list");
  EXPECT_EQ(class_of("create", "events", ""), "event");
  EXPECT_EQ(class_of("create", "pods", "binding"), "bind");
  EXPECT_EQ(class_of("create", "pods", "eviction"), "delete");
  EXPECT_EQ(class_of("delete", "pods", ""), "delete");
  EXPECT_EQ(class_of("patch", "nodes", "status"), "node status");
  EXPECT_EQ(class_of("patch", "nodes", ""), "taint");
  EXPECT_EQ(class_of("patch", "pods", "status"), "pod status");
  EXPECT_EQ(class_of("get", "nodes", ""), "other");
  EXPECT_EQ(class_of("create", "pods", ""), "other");
}

std::string line(const std::string& time, const std::string& verb, const std::string& resource,
                 const std::string& agent = "holdfast-edge/1") {
  return R"({"stage":"ResponseComplete","verb":")" + verb + R"(","userAgent":")" + agent +
         R"(","requestReceivedTimestamp":"2026-01-01T)" + time + R"(Z","objectRef":{"resource":")" +
         resource + "\"}}\n";
}

TEST(LabRequestLog, CountsInTheScenariosTime) {
  const test::ScratchDir folder;
  const auto file = folder.path() / "audit.log";
  const std::string log =
      line("00:00:09.900000", "list", "pods") +  // before the beginning
      line("00:00:10.000000", "update", "leases") + line("00:00:10.050000", "update", "leases") +
      line("00:00:10.060000", "update", "leases") +
      line("00:00:10.070000", "watch", "pods", "holdfast-lab") +  // our own
      "not JSON\n{\"stage\":\"RequestReceived\"}\n" + line("00:00:12.010000", "list", "pods") +
      line("00:00:12.099999", "list", "nodes") +
      line("00:00:30.000000", "list", "nodes");  // after the end
  ASSERT_TRUE(fs::atomic_write(file, log));
  const auto begin = parse_rfc3339("2026-01-01T00:00:10Z");
  ASSERT_TRUE(begin);
  const LogTimes times{.begin = *begin, .speed = 10, .counted_from = 10s, .length = 2min};
  const auto counts = count_requests(file, times);
  ASSERT_TRUE(counts) << counts.error().what;
  const std::vector<RequestClass> classes = {{"lease", 3, 0}, {"list", 2, 0}};
  EXPECT_EQ(counts->classes, classes);
  EXPECT_EQ(counts->most_per_second, 2u) << "12.01 s and 12.099999 s are 20.1 s and 20.99 s";
  std::vector<double> per_second(21);
  per_second[0] = 3;
  per_second[20] = 2;
  EXPECT_EQ(counts->over_time, (Series{"requests", 1s, per_second}));
}

TEST(LabRequestLog, NamesAMissingFile) {
  const auto counts = count_requests("/nonexistent/audit.log", {});
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().what, "audit log /nonexistent/audit.log cannot be read");
}

}  // namespace
}  // namespace holdfast::agent::lab::run
