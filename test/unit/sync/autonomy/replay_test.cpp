#include "sync/autonomy/replay.h"

namespace holdfast::sync {
namespace {

constexpr std::string_view forbidden =
    R"({"kind":"Status","status":"Failure","message":"events \"x\" is forbidden: no","reason":)"
    R"("Forbidden","details":{"name":"x","kind":"events"},"code":403})";
// As kube-apiserver 1.36 answers.
constexpr std::string_view terminating =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"events \"x\")"
    R"( is forbidden: unable to create new content in namespace a because it is being terminated",)"
    R"("reason":"Forbidden","details":{"name":"x","kind":"events","causes":[{"reason":)"
    R"("NamespaceTerminating","message":"namespace a is being terminated","field":)"
    R"("metadata.namespace"}]},"code":403})";

TEST(Replay, TheAnswerDecidesWhatBecomesOfAWrite) {
  struct Case {
    ReplayAnswer answer;
    Verdict verdict;
  };
  const Case cases[] = {
      {{"PATCH", 200}, Verdict::applied},
      {{"POST", 201, "", true, 9}, Verdict::applied},
      {{"DELETE", 202}, Verdict::applied},
      // Gone before, or by our own earlier attempt.
      {{"DELETE", 404}, Verdict::applied},
      {{"DELETE", 404, "", true}, Verdict::applied},
      {{"PATCH", 404}, Verdict::conflict},
      {{"POST", 404}, Verdict::conflict},
      // Somebody else's, unless it may be ours.
      {{"POST", 409}, Verdict::conflict},
      {{"POST", 409, "", true}, Verdict::applied},
      {{"POST", 409, "", false, 0, "nodes"}, Verdict::applied},
      {{"POST", 409, "", false, 0, "pods"}, Verdict::conflict},
      {{"PATCH", 409, "", false, 0, "nodes"}, Verdict::conflict},
      {{"PATCH", 409}, Verdict::conflict},
      {{"PATCH", 409, "", true}, Verdict::conflict},
      {{"DELETE", 409, "", true}, Verdict::conflict},
      // The cloud will never take it.
      {{"PATCH", 400}, Verdict::rejected},
      {{"POST", 405}, Verdict::rejected},
      {{"PATCH", 415}, Verdict::rejected},
      {{"PATCH", 422}, Verdict::rejected},
      {{"PATCH", 302}, Verdict::rejected},
      {{"POST", 403, terminating}, Verdict::rejected},
      // May pass, or be this write's own fault: not for ever, and others do not wait for it.
      {{"PATCH", 500}, Verdict::wait},
      {{"PATCH", 500, "", false, 6}, Verdict::wait},
      {{"PATCH", 500, "", false, 7}, Verdict::rejected},
      {{"POST", 403, forbidden}, Verdict::wait},
      {{"PATCH", 403, "", false, 6}, Verdict::wait},
      {{"PATCH", 403, "", false, 7}, Verdict::rejected},
      {{"PATCH", 504, "", true, 7}, Verdict::rejected},
      // The object whose status is to be written is gone: the Node authorizer says 403 then.
      {{"GET", 404}, Verdict::conflict},
      {{"GET", 403, forbidden, false, 2}, Verdict::wait},
      {{"GET", 403, forbidden, false, 3}, Verdict::conflict},
      {{"GET", 500, "", false, 6}, Verdict::wait},
      // Says nothing about the write: nothing accepted is lost by it.
      {{"PATCH", 401, "", false, 1000}, Verdict::retry},
      {{"POST", 429, "", false, 1000}, Verdict::retry},
      {{"DELETE", 503, "", true, 1000}, Verdict::retry},
  };
  for (const Case& c : cases) {
    const Verdict verdict = judge_replay(c.answer);
    EXPECT_EQ(to_string(verdict), to_string(c.verdict))
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
  EXPECT_FALSE(is_expired("pods", hours(24 * 365))) << "what is true stays so";
}

}  // namespace
}  // namespace holdfast::sync
