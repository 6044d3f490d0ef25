#include "sync/objects/toleration.h"

#include <limits>

#include "test/unit/sync/objects/taints.h"

namespace holdfast::sync::objects {
namespace {

using namespace std::chrono_literals;

Toleration toleration(std::string key, std::string op, std::string value, std::string effect) {
  Toleration one;
  one.key = std::move(key);
  one.operator_name = std::move(op);
  one.value = std::move(value);
  one.effect = std::move(effect);
  return one;
}

TEST(Toleration, MatchesByEffectKeyAndValue) {
  Taint taint = make_no_execute("k");
  taint.value = "5";
  const struct {
    Toleration toleration;
    bool comparisons;
    bool expect;
  } rows[] = {
      {toleration("k", "Equal", "5", "NoExecute"), false, true},
      {toleration("k", "", "5", ""), false, true},
      {toleration("k", "", "6", ""), false, false},
      {toleration("k", "Exists", "", "NoSchedule"), false, false},
      {toleration("", "Exists", "", ""), false, true},
      {toleration("K", "Exists", "", ""), false, false},
      {toleration("k", "exists", "", ""), false, false},
      {toleration("k", "Gt", "4", ""), false, false},
      {toleration("k", "Gt", "4", ""), true, true},
      {toleration("k", "Gt", "5", ""), true, false},
      {toleration("k", "Lt", "6", ""), true, true},
      {toleration("k", "Lt", "06", ""), true, false},
      {toleration("k", "Lt", "+6", ""), true, false},
      {toleration("k", "Lt", "99999999999999999999", ""), true, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.toleration.operator_name + " " + row.toleration.value);
    EXPECT_EQ(tolerates(row.toleration, taint, row.comparisons), row.expect);
  }
}

TEST(Toleration, TheShortestUsedOneCounts) {
  const auto lasting = [](std::optional<std::int64_t> seconds) {
    return make_toleration("k", seconds);
  };
  using List = std::vector<Toleration>;
  EXPECT_EQ(shortest_toleration({}), Duration::zero());
  EXPECT_EQ(shortest_toleration(List{lasting({})}), std::nullopt);
  EXPECT_EQ(shortest_toleration(List{lasting({}), lasting(7), lasting(3)}), 3s);
  EXPECT_EQ(shortest_toleration(List{lasting(-5)}), 0s);
  // A billion seconds is kept; more than a Duration can hold becomes 100 years.
  EXPECT_EQ(shortest_toleration(List{lasting(1'000'000'000)}), 1'000'000'000s);
  const auto longest = shortest_toleration(List{lasting(std::numeric_limits<std::int64_t>::max())});
  EXPECT_EQ(longest, 24h * 365 * 100);
}

TEST(Toleration, OneTaintWithoutMatchSpoilsItAll) {
  const std::vector<Taint> taints{make_no_execute("a"), make_no_execute("b")};
  const Toleration a = make_toleration("a", 1);
  const Toleration b = make_toleration("b", 2);
  using List = std::vector<Toleration>;
  EXPECT_EQ(matching_tolerations(taints, {a}, false), std::nullopt);
  EXPECT_EQ(matching_tolerations(taints, {b, a}, false), (List{a, b}));
  EXPECT_EQ(matching_tolerations({}, {}, false), List{});
}

}  // namespace
}  // namespace holdfast::sync::objects
