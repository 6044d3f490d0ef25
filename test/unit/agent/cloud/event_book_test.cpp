#include "agent/cloud/event_book.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;

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

TEST(EventBook, WritesEventsAsUpstreamDoes) {
  EventBook book;
  const auto request = book.record(start, noon, node_event());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, "/api/v1/namespaces/default/events");
  EXPECT_EQ(request->body,
            R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"a.13b541cb8cb38000",)"
            R"("namespace":"default"},"involvedObject":{"kind":"Node","apiVersion":"v1",)"
            R"("name":"a","uid":"uid-a"},"reason":"NodeNotReady","message":"m",)"
            R"("source":{"component":"node-controller"},)"
            R"("firstTimestamp":"2015-01-01T12:00:00Z","lastTimestamp":"2015-01-01T12:00:00Z",)"
            R"("count":1,"type":"Normal","eventTime":null,)"
            R"("reportingComponent":"node-controller","reportingInstance":""})");
}

TEST(EventBook, CountsRepetitionsOnTheFirst) {
  EventBook book;
  (void)book.record(start, noon, node_event());
  const auto again = book.record(start + 1s, noon + 1s, node_event());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->method, http::Method::patch);
  EXPECT_EQ(again->target, "/api/v1/namespaces/default/events/a.13b541cb8cb38000");
  EXPECT_EQ(again->body, R"({"count":2,"lastTimestamp":"2015-01-01T12:00:01Z"})");
  const auto other = book.record(start + 2s, noon, node_event("other"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->method, http::Method::post);
}

TEST(EventBook, ForgottenEventsBeginAnew) {
  EventBook book;
  (void)book.record(start, noon, node_event());
  book.forget(node_event());
  book.forget(node_event("never recorded"));
  EXPECT_EQ(book.record(start, noon, node_event())->method, http::Method::post);
}

TEST(EventBook, ATalkativeObjectIsHeldBack) {
  EventBook book(EventLimits{.remembered = 10, .burst = 3, .refill = 300s});
  int recorded = 0;
  for (int index = 0; index < 10; ++index) {
    if (book.record(start, noon, node_event(std::to_string(index)))) ++recorded;
  }
  EXPECT_EQ(recorded, 3);
  EXPECT_FALSE(book.record(start + 299s, noon, node_event("x")));
  EXPECT_TRUE(book.record(start + 301s, noon, node_event("y")));
}

TEST(EventBook, RemembersSoMany) {
  EventBook book(EventLimits{.remembered = 2, .burst = 100, .refill = 1s});
  for (const char* message : {"1", "2", "3"}) (void)book.record(start, noon, node_event(message));
  EXPECT_EQ(book.record(start, noon, node_event("3"))->method, http::Method::patch);
  EXPECT_EQ(book.record(start, noon, node_event("1"))->method, http::Method::post);
}

}  // namespace
}  // namespace holdfast::agent
