#include "sync/events/pod_events.h"

namespace holdfast::sync::events {
namespace {

using namespace std::chrono_literals;

const schedule::PodKey web{"default", "web-1", "u1"};

TEST(PodEvents, RepetitionsAreCountedAndWrittenFromTimeToTime) {
  PodEvents events("mine", "mine-host");
  const schedule::RecordEvent event{web,          schedule::PodKey{"default", "vip", "u2"},
                                    "Normal",     "Preempted",
                                    "Preempting", "Preempted by pod u2 on node a"};
  MonoTime now{1h};
  const WallTime wall{1'420'113'600s};
  const auto first = events.record(now, wall, event);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->request.path, "/apis/events.k8s.io/v1/namespaces/default/events");
  const std::string start =
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"web-1.)";
  EXPECT_EQ(first->request.body.substr(0, start.size()), start);
  EXPECT_NE(first->request.body.find(
                R"("eventTime":"2015-01-01T12:00:00.000000Z","reportingController":"mine",)"
                R"("reportingInstance":"mine-host","action":"Preempting","reason":"Preempted",)"
                R"("regarding":{"kind":"Pod","namespace":"default","name":"web-1","uid":"u1",)"
                R"("apiVersion":"v1"},"note":"Preempted by pod u2 on node a","type":"Normal",)"
                R"("related":{"kind":"Pod","namespace":"default","name":"vip","uid":"u2",)"
                R"("apiVersion":"v1"}})"),
            std::string::npos)
      << first->request.body;
  const auto second = events.record(now + 1s, wall + 1s, event);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->request.is_patch);
  EXPECT_EQ(second->request.body,
            R"({"series":{"count":2,"lastObservedTime":"2015-01-01T12:00:01.000000Z"}})");
  ASSERT_TRUE(second->instead);
  EXPECT_NE(second->instead->body.find(R"("series":{"count":2,)"), std::string::npos);
  EXPECT_FALSE(events.record(now + 2s, wall, event)) << "only counted";
  schedule::RecordEvent other = event;
  other.note = "something else";
  EXPECT_FALSE(events.record(now + 2s, wall, other)->request.is_patch);
  for (int minute = 1; minute < 30; ++minute) {
    EXPECT_FALSE(events.record(now + minute * 1min, wall, event)) << minute;
  }
  const auto refreshed = events.record(now + 31min, wall, event);
  ASSERT_TRUE(refreshed);
  EXPECT_TRUE(refreshed->request.is_patch);
  EXPECT_NE(refreshed->request.body.find(R"("count":33,)"), std::string::npos);
  EXPECT_FALSE(events.record(now + 40min, wall, event)->request.is_patch)
      << "a quiet time has ended the series";
}

}  // namespace
}  // namespace holdfast::sync::events
