// Parts of the Job controller: sets of indexes, and the back-off.

#include <boost/json.hpp>

#include "agent/lab/loops/job_backoff.h"
#include "agent/lab/loops/job_indexes.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

TEST(IndexSet, ReadsAndWritesRanges) {
  const std::tuple<std::string_view, std::int64_t, std::string_view, std::int64_t> cases[] = {
      {"", 10, "", 0},
      {"0-2,5", 10, "0-2,5", 4},
      {"3,1,2", 10, "1-3", 3},
      {"4,5", 10, "4,5", 2},
      {"0-9", 4, "0-3", 4},
      {"7", 7, "", 0},
      {"x,-1,3-1,2-,5", 10, "5", 1},
      {"0-3,2-6", 10, "0-6", 7},
      {"0-2000000000", 2147483647, "0-2000000000", 2000000001},
  };
  for (const auto& [text, below, expected, size] : cases) {
    const IndexSet set = IndexSet::parse(text, below);
    EXPECT_EQ(set.text(), expected) << text;
    EXPECT_EQ(set.size(), size) << text;
  }
  IndexSet set = IndexSet::parse("0-2,5", 10);
  EXPECT_EQ(set.first_missing(0), 3);
  EXPECT_EQ(set.first_missing(4), 4);
  EXPECT_EQ(set.first_missing(5), 6);
  set.add(3);
  set.add(4);
  EXPECT_EQ(set.text(), "0-5");
  EXPECT_TRUE(set.contains(5));
  EXPECT_FALSE(set.contains(6));
}

TEST(JobBackoff, ForgetsFailuresAfterASuccess) {
  const WallTime at_one = parse_rfc3339("2026-11-21T01:00:00Z").value();
  const json::object failed =
      json::parse(R"({"metadata":{"creationTimestamp":"2026-11-21T00:59:50Z"}})").as_object();
  const json::object succeeded =
      json::parse(R"({"metadata":{"creationTimestamp":"2026-11-21T00:59:55Z"}})").as_object();
  const JobBackoff once = with_ended({}, {}, {&failed});
  EXPECT_EQ(once.failures, 1);
  EXPECT_EQ(remaining(once, at_one), 0s);
  EXPECT_EQ(remaining(with_ended(once, {}, {&failed}), at_one), 10s);
  EXPECT_EQ(remaining({40, at_one}, at_one), 10min);
  EXPECT_EQ(remaining({1, at_one + 24h}, at_one), 10s);
  EXPECT_EQ(with_ended(once, {&succeeded}, {&failed}), JobBackoff{});
}

}  // namespace
}  // namespace holdfast::agent::lab
