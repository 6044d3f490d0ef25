#include "sync/events/event_aggregator.h"

namespace holdfast::sync::events {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{};
const WallTime noon{std::chrono::seconds(1'420'113'600)};  // 2015-01-01T12:00:00Z

lifecycle::RecordEvent node_event(std::string message = "m") {
  return {lifecycle::EventSource::lifecycle,
          lifecycle::EventKind::node,
          {"", "a", "uid-a"},
          false,
          "NodeNotReady",
          std::move(message)};
}

TEST(EventAggregator, WritesEventsAsUpstreamDoes) {
  EventAggregator events;
  const auto request = events.record(start, noon, node_event());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->request.path, "/api/v1/namespaces/default/events");
  EXPECT_FALSE(request->instead);
  EXPECT_EQ(request->request.body,
            R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"a.13b541cb8cb38000",)"
            R"("namespace":"default"},"involvedObject":{"kind":"Node","name":"a",)"
            R"("uid":"uid-a","apiVersion":"v1"},"reason":"NodeNotReady","message":"m",)"
            R"("source":{"component":"node-controller"},)"
            R"("firstTimestamp":"2015-01-01T12:00:00Z","lastTimestamp":"2015-01-01T12:00:00Z",)"
            R"("count":1,"type":"Normal","eventTime":null,)"
            R"("reportingComponent":"node-controller","reportingInstance":""})");
}

TEST(EventAggregator, CountsRepetitionsOnTheFirst) {
  EventAggregator events;
  (void)events.record(start, noon, node_event());
  const auto again = events.record(start + 1s, noon + 1s, node_event());
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->request.is_patch);
  EXPECT_EQ(again->request.path, "/api/v1/namespaces/default/events/a.13b541cb8cb38000");
  EXPECT_EQ(again->request.body,
            R"({"count":2,"lastTimestamp":"2015-01-01T12:00:01Z","message":"m"})");
  const auto other = events.record(start + 2s, noon, node_event("other"));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->request.is_patch);
}

// The API server deletes an Event after an hour. If it is repeated later, the patch comes with a
// request that creates it again with its count so far.
TEST(EventAggregator, AnExpiredEventIsMadeAgain) {
  EventAggregator events;
  (void)events.record(start, noon, node_event());
  const auto again = events.record(start + 2h, noon + 2h, node_event());
  ASSERT_TRUE(again && again->instead);
  EXPECT_FALSE(again->instead->is_patch);
  const std::string& body = again->instead->body;
  EXPECT_NE(body.find(R"("name":"a.13b541cb8cb38000")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("firstTimestamp":"2015-01-01T12:00:00Z")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("lastTimestamp":"2015-01-01T14:00:00Z","count":2)"), std::string::npos)
      << body;
}

TEST(EventAggregator, ForgottenEventsBeginAnew) {
  EventAggregator events;
  const auto write = events.record(start, noon, node_event());
  events.forget(*write);
  events.forget(EventWrite{{}, {}, "never recorded"});
  EXPECT_FALSE(events.record(start, noon, node_event())->request.is_patch);
}

TEST(EventAggregator, ATalkativeObjectIsHeldBack) {
  EventAggregator events(EventLimits{.remembered = 10, .burst = 3, .refill = 300s});
  int recorded = 0;
  for (int index = 0; index < 10; ++index) {
    if (events.record(start, noon, node_event("m"))) ++recorded;
  }
  EXPECT_EQ(recorded, 3);
  EXPECT_FALSE(events.record(start + 299s, noon, node_event("x")));
  EXPECT_TRUE(events.record(start + 301s, noon, node_event("y")));
  const auto late = events.record(start + 601s, noon, node_event("m"));
  ASSERT_TRUE(late);
  EXPECT_NE(late->request.body.find(R"("count":11)"), std::string::npos)
      << "what was held back is counted: " << late->request.body;
}

TEST(EventAggregator, OfSimilarEventsTheTenthStandsForTheRest) {
  EventAggregator events;
  for (int index = 1; index < 10; ++index) {
    const auto write = events.record(start, noon, node_event(std::to_string(index)));
    EXPECT_NE(write->request.body.find(R"("message":")" + std::to_string(index)),
              std::string::npos);
  }
  const auto tenth = events.record(start, noon, node_event("10"));
  EXPECT_FALSE(tenth->request.is_patch);
  EXPECT_NE(tenth->request.body.find(R"("message":"(combined from similar events): 10")"),
            std::string::npos);
  const auto more = events.record(start + 1s, noon + 1s, node_event("11"));
  EXPECT_TRUE(more->request.is_patch);
  EXPECT_EQ(more->request.body, R"({"count":2,"lastTimestamp":"2015-01-01T12:00:01Z",)"
                                R"("message":"(combined from similar events): 11"})");
}

TEST(EventAggregator, OtherReasonsAndQuietTimesAreNotSimilar) {
  EventAggregator events;
  for (int index = 1; index < 10; ++index) {
    (void)events.record(start, noon, node_event(std::to_string(index)));
  }
  lifecycle::RecordEvent other = node_event("other");
  other.reason = "RegisteredNode";
  EXPECT_NE(events.record(start, noon, other)->request.body.find(R"("message":"other")"),
            std::string::npos);
  const auto later = events.record(start + 601s, noon, node_event("later"));
  EXPECT_NE(later->request.body.find(R"("message":"later")"), std::string::npos);
}

TEST(EventAggregator, RemembersSoMany) {
  EventAggregator events(EventLimits{.remembered = 2, .burst = 100, .refill = 1s});
  for (const char* message : {"1", "2", "3"}) (void)events.record(start, noon, node_event(message));
  EXPECT_TRUE(events.record(start, noon, node_event("3"))->request.is_patch);
  EXPECT_FALSE(events.record(start, noon, node_event("1"))->request.is_patch);
}

}  // namespace
}  // namespace holdfast::sync::events
