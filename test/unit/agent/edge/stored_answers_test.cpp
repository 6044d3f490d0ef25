// How long answers are kept that are not lists.

#include "agent/edge/cache/stored_answers.h"

#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

// The clock of a node may be wrong by days.
TEST(StoredAnswers, TokensOfOtherCallersAreKeptForAMonthAfterTheirEnd) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  cached::Agent run(time.context(), dir.path());
  const store::Answer token{.status = 201, .bytes = "{}", .expires = time.clock().wall() + 1h};
  for (const char* owner : {"node", "other"}) {
    EXPECT_TRUE(run.answers.put(owner, "token t", token));
  }
  const auto kept = [&run](const char* owner) {
    EXPECT_TRUE(run.answers.remove_expired());
    return run.answers.find(owner, "token t").value().has_value();
  };
  time.clock().jump_wall(1h + 30 * 24h);
  EXPECT_TRUE(kept("other"));
  time.clock().jump_wall(1s);
  EXPECT_FALSE(kept("other"));
  time.clock().jump_wall(10 * 365 * 24h);
  EXPECT_TRUE(kept("node"));
}

}  // namespace
}  // namespace holdfast::agent
