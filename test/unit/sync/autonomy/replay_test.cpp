#include "sync/autonomy/replay.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr std::string_view forbidden =
    R"({"kind":"Status","status":"Failure","message":"events \"x\" is forbidden: no","reason":)"
    R"("Forbidden","details":{"name":"x","kind":"events"},"code":403})";
// Answers of kube-apiserver 1.36.
constexpr std::string_view terminating =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"events \"x\")"
    R"( is forbidden: unable to create new content in namespace a because it is being terminated",)"
    R"("reason":"Forbidden","details":{"name":"x","kind":"events","causes":[{"reason":)"
    R"("NamespaceTerminating","message":"namespace a is being terminated","field":)"
    R"("metadata.namespace"}]},"code":403})";

TEST(Replay, TheAnswerDecidesWhatBecomesOfAWrite) {
  struct Case {
    ReplayAnswer answer;
    ReplayOutcome outcome;
  };
  const Case cases[] = {
      {{"PATCH", 200}, ReplayOutcome::applied},
      {{"POST", 201, "", true, 9}, ReplayOutcome::applied},
      {{"DELETE", 202}, ReplayOutcome::applied},
      // Gone before, or by our own earlier attempt.
      {{"DELETE", 404}, ReplayOutcome::applied},
      {{"DELETE", 404, "", true}, ReplayOutcome::applied},
      {{"PATCH", 404}, ReplayOutcome::conflict},
      {{"POST", 404}, ReplayOutcome::conflict},
      // Somebody else's, unless it may be ours.
      {{"POST", 409}, ReplayOutcome::conflict},
      {{"POST", 409, "", true}, ReplayOutcome::applied},
      {{"POST", 409, "", false, 0, "nodes"}, ReplayOutcome::applied},
      {{"POST", 409, "", false, 0, "pods"}, ReplayOutcome::conflict},
      {{"PATCH", 409, "", false, 0, "nodes"}, ReplayOutcome::conflict},
      {{"PATCH", 409}, ReplayOutcome::conflict},
      {{"PATCH", 409, "", true}, ReplayOutcome::conflict},
      {{"DELETE", 409, "", true}, ReplayOutcome::conflict},
      // The cloud will never take it.
      {{"PATCH", 400}, ReplayOutcome::rejected},
      {{"POST", 405}, ReplayOutcome::rejected},
      {{"PATCH", 415}, ReplayOutcome::rejected},
      {{"PATCH", 422}, ReplayOutcome::rejected},
      {{"PATCH", 302}, ReplayOutcome::wait},
      {{"PATCH", 408}, ReplayOutcome::wait},
      {{"POST", 403, terminating}, ReplayOutcome::rejected},
      // May pass, or be this write's own fault: not for ever, and others do not wait for it.
      {{"PATCH", 500}, ReplayOutcome::wait},
      {{"PATCH", 500, "", false, 6}, ReplayOutcome::wait},
      {{"PATCH", 500, "", false, 7}, ReplayOutcome::rejected},
      {{"POST", 403, forbidden}, ReplayOutcome::wait},
      {{"PATCH", 403, "", false, 6}, ReplayOutcome::wait},
      {{"PATCH", 403, "", false, 7}, ReplayOutcome::rejected},
      {{"PATCH", 504, "", true, 7}, ReplayOutcome::rejected},
      // The object whose status is to be written is gone: the Node authorizer says 403 then.
      {{"GET", 404}, ReplayOutcome::conflict},
      {{"GET", 403, forbidden, false, 2}, ReplayOutcome::wait},
      {{"GET", 403, forbidden, false, 3}, ReplayOutcome::conflict},
      {{"GET", 500, "", false, 6}, ReplayOutcome::wait},
      // Says nothing about the write: nothing accepted is lost by it.
      {{"PATCH", 401, "", false, 1000}, ReplayOutcome::retry},
      {{"POST", 429, "", false, 1000}, ReplayOutcome::retry},
      {{"DELETE", 503, "", true, 1000}, ReplayOutcome::retry},
  };
  for (const Case& c : cases) {
    const ReplayOutcome outcome = outcome_of_answer(c.answer);
    EXPECT_EQ(to_string(outcome), to_string(c.outcome))
        << c.answer.verb << " " << c.answer.http_status << " maybe_sent=" << c.answer.maybe_sent
        << " #" << c.answer.refusals;
  }
}

TEST(Replay, AWriteWaitsLongerEachTimeUpToAMinute) {
  using std::chrono::seconds;
  const int waits[] = {1, 2, 4, 8, 16, 32, 60, 60};
  int refusals = 0;
  for (const int wait : waits) EXPECT_EQ(replay_backoff(++refusals), seconds(wait));
  EXPECT_EQ(replay_backoff(1'000'000), seconds(60));
}

TEST(Replay, AnEventIsSentAsLongAsTheCloudWouldHaveKeptIt) {
  using std::chrono::hours;
  EXPECT_FALSE(is_expired("events", Duration::zero()));
  EXPECT_FALSE(is_expired("events", hours(1)));
  EXPECT_TRUE(is_expired("events", hours(1) + std::chrono::nanoseconds(1)));
  EXPECT_FALSE(is_expired("pods", hours(24 * 365))) << "a status does not expire";
}

TEST(ReplayRequest, HasTwiceTheTimeAfterEachTimeout) {
  std::vector<Duration> limits;
  for (int failures = 0; failures < 5; ++failures) limits.push_back(replay_request_limit(failures));
  EXPECT_EQ(limits, (std::vector<Duration>{10s, 20s, 40s, 60s, 60s}));
}

// What happens to a width of at most 4: "." is a quick answer, "s" a slow one, "!" congestion.
TEST(ReplayWidth, FollowsWhatTheLineCarries) {
  const struct {
    std::string_view what;
    std::size_t width;
  } rows[] = {{"", 4},    {"......", 4}, {"ssssss", 4}, {"!", 2},          {"!!", 1},  {"!!!", 1},
              {"!.", 2},  {"!..", 3},    {"!.....", 4}, {"!..!", 1},       {"!!.", 2}, {"!!...", 3},
              {"!!s", 1}, {"!.s.", 2},   {"!.s..", 3},  {"!..........", 4}};
  for (const auto& row : rows) {
    ReplayWidth width(4);
    for (const char each : row.what) {
      if (each == '!') {
        width.note_congestion();
      } else {
        width.note_answer(each == '.' ? 5s : 5s + 1ms);
      }
    }
    EXPECT_EQ(width.value(), row.width) << row.what;
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy
