#include "sync/autonomy/replay.h"

namespace holdfast::sync {
namespace {

TEST(Replay, TheAnswerDecidesWhatBecomesOfAWrite) {
  struct Case {
    std::string_view verb;
    int status;
    bool maybe_sent;
    int attempts;
    Verdict verdict;
  };
  const Case cases[] = {
      {"PATCH", 200, false, 1, Verdict::applied},
      {"POST", 201, true, 9, Verdict::applied},
      {"DELETE", 202, false, 1, Verdict::applied},
      // Gone before, or by our own earlier attempt.
      {"DELETE", 404, false, 1, Verdict::applied},
      {"DELETE", 404, true, 1, Verdict::applied},
      {"PATCH", 404, false, 1, Verdict::conflict},
      {"POST", 404, false, 1, Verdict::conflict},
      // Somebody else's, unless it may be ours.
      {"POST", 409, false, 1, Verdict::conflict},
      {"POST", 409, true, 1, Verdict::applied},
      {"PATCH", 409, false, 1, Verdict::conflict},
      {"PATCH", 409, true, 1, Verdict::conflict},
      {"DELETE", 409, true, 1, Verdict::conflict},
      // The cloud will never take it.
      {"PATCH", 400, false, 1, Verdict::rejected},
      {"POST", 405, false, 1, Verdict::rejected},
      {"PATCH", 415, false, 1, Verdict::rejected},
      {"PATCH", 422, false, 1, Verdict::rejected},
      {"PATCH", 302, false, 1, Verdict::rejected},
      // May pass, or be this write's own fault: not for ever.
      {"PATCH", 500, false, 1, Verdict::retry},
      {"PATCH", 500, false, 4, Verdict::retry},
      {"PATCH", 500, false, 5, Verdict::rejected},
      {"PATCH", 403, false, 4, Verdict::retry},
      {"PATCH", 403, false, 5, Verdict::rejected},
      {"PATCH", 504, true, 5, Verdict::rejected},
      // Says nothing about the write: nothing accepted is lost by it.
      {"PATCH", 401, false, 1000, Verdict::retry},
      {"POST", 429, false, 1000, Verdict::retry},
      {"DELETE", 503, true, 1000, Verdict::retry},
  };
  for (const Case& c : cases) {
    const Verdict verdict = judge_replay(c.verb, c.status, c.maybe_sent, c.attempts);
    EXPECT_EQ(to_string(verdict), to_string(c.verdict))
        << c.verb << " " << c.status << " maybe_sent=" << c.maybe_sent << " #" << c.attempts;
  }
}

TEST(Replay, AnEventIsSentAsLongAsTheCloudWouldHaveKeptIt) {
  using std::chrono::hours;
  EXPECT_FALSE(is_expired("events", Duration::zero()));
  EXPECT_FALSE(is_expired("events", hours(1)));
  EXPECT_TRUE(is_expired("events", hours(1) + std::chrono::nanoseconds(1)));
  EXPECT_FALSE(is_expired("pods", hours(24 * 365))) << "what is true stays so";
}

}  // namespace
}  // namespace holdfast::sync
