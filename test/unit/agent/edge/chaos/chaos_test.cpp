// Random sequences of link cuts, restorations, kills, restarts, clock jumps, and writes from both
// sides: in any order, no acknowledged write is lost, and agent and cloud agree in the end.
//
// HOLDFAST_SCHEDULES: the number of sequences, default 40. HOLDFAST_SEED: runs only the sequence
// with this seed and prints its actions.

#include <gtest/gtest.h>

#include <cstdlib>

#include "platform/text.h"
#include "test/unit/agent/edge/chaos/chaos_fixture.h"

namespace holdfast::agent::chaos {
namespace {

constexpr int actions_each = 30;
constexpr std::uint64_t groups = 8;  // the sequences are divided among tests that run in parallel

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : parse_int<std::uint64_t>(text).value();
}

std::string told(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append("  ").append(line).append("\n");
  return text;
}

void play(std::uint64_t seed) {
  ChaosFixture fixture(seed);
  for (int i = 0; i < actions_each; ++i) fixture.next();
  fixture.converge();
  EXPECT_EQ(fixture.faults, std::vector<std::string>()) << "HOLDFAST_SEED=" << seed << "\n"
                                                        << told(fixture.actions);
}

class Chaos : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Chaos, EveryScheduleEndsConverged) {
  const std::uint64_t count = setting("HOLDFAST_SCHEDULES", 40);
  const std::uint64_t only = setting("HOLDFAST_SEED", count);
  for (std::uint64_t seed = GetParam(); seed < count; seed += groups) {
    if (only == count || only == seed) play(seed);
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Edge, Chaos, testing::Range<std::uint64_t>(0, groups));

}  // namespace
}  // namespace holdfast::agent::chaos
