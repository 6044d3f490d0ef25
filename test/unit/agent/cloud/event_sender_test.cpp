#include "agent/cloud/event_sender.h"

#include "platform/loop/tasks.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;

// Answers every call with success, or with `error` if it is set.
struct Scripted final : ApiCaller {
  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime /*deadline*/) override {
    asked.push_back(std::string(http::to_string(request.method)) + " " + request.target);
    Result<std::string> answer = std::string();
    if (error) answer = fail(*error, "scripted");
    co_return answer;
  }
  std::optional<Errc> error;
  std::vector<std::string> asked;
};

class EventSending : public testing::Test {
 protected:
  EventSending() : sender(time.executor(), caller, time.clock()), tasks(time.executor()) {
    tasks.spawn("retries", sender.run());
  }
  ~EventSending() override {
    tasks.cancel();
    time.complete(tasks.join());
  }
  void record(std::string message) {
    tasks.spawn("record", send(std::move(message)));
    time.settle();
  }

  test::VirtualTime time;
  Scripted caller;
  EventSender sender;
  loop::Tasks tasks;

 private:
  asio::awaitable<void> send(std::string message) {
    lifecycle::RecordEvent event;
    event.about = {"", "a", "u"};
    event.reason = "NodeNotReady";
    event.message = std::move(message);
    (void)co_await sender.record(std::move(event));
  }
};

TEST_F(EventSending, WhatDidNotArriveIsSentAgain) {
  caller.error = Errc::unavailable;
  record("m");
  time.run(35s);
  EXPECT_EQ(caller.asked.size(), 4u);
  EXPECT_EQ(sender.waiting(), 1u);
  caller.error.reset();
  time.run(1min);
  EXPECT_EQ(caller.asked.size(), 5u);
  EXPECT_EQ(caller.asked.back(), "POST /api/v1/namespaces/default/events");
  EXPECT_EQ(sender.waiting(), 0u);
}

TEST_F(EventSending, AfterTwelveTriesItIsLost) {
  caller.error = Errc::timeout;
  record("m");
  time.run(5min);
  EXPECT_EQ(caller.asked.size(), 12u);
  EXPECT_EQ(sender.waiting(), 0u);
}

TEST_F(EventSending, WhatIsRefusedIsLostAtOnce) {
  caller.error = Errc::denied;
  record("m");
  time.run(5min);
  EXPECT_EQ(caller.asked.size(), 1u);
  caller.error.reset();
  record("m");
  EXPECT_TRUE(caller.asked.back().starts_with("POST")) << "as if it were the first";
}

TEST_F(EventSending, AnExpiredOneIsMadeAgain) {
  record("m");
  caller.error = Errc::not_found;
  record("m");
  ASSERT_EQ(caller.asked.size(), 3u);
  EXPECT_TRUE(caller.asked[1].starts_with("PATCH"));
  EXPECT_TRUE(caller.asked[2].starts_with("POST"));
}

TEST_F(EventSending, NotEverythingIsKept) {
  caller.error = Errc::unavailable;
  for (int node = 0; node < 1200; ++node) record(std::to_string(node % 9));
  EXPECT_LE(sender.waiting(), 1000u);
}

}  // namespace
}  // namespace holdfast::agent
