#include "agent/node/status_sender.h"

#include "platform/loop/tasks.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/node/fake_sink.h"

namespace holdfast::agent::node {
namespace {

using namespace std::chrono_literals;

class Sender : public testing::Test {
 protected:
  Sender() { tasks_.spawn("sender", sender_.run()); }
  ~Sender() override {
    tasks_.cancel();
    time_.finish();
  }

  void report(const std::string& pod, const std::string& phase) {
    sender_.report(key(pod), R"({"metadata":{"uid":"uid-)" + pod + R"("},"status":{"phase":")" +
                                 phase + "\"}}");
  }
  static sync::runtime::PodKey key(const std::string& pod) {
    return {"default", pod, "uid-" + pod};
  }

  // Runs until nothing is left to send. Returns the calls.
  std::vector<std::string> sent() {
    EXPECT_TRUE(time_.run_until(30s, [this] { return sender_.pending() == 0; }));
    time_.run(1s);  // a sender in the middle of a call has already removed its item from the queue
    return std::exchange(sink_.calls, {});
  }

  holdfast::test::VirtualTime time_;
  test::FakeSink sink_;
  StatusSender sender_{
      time_.executor(), sink_, time_.clock(), {.retry_min = 1ms, .retry_max = 2ms}};
  loop::Tasks tasks_{time_.executor()};
};

using Calls = std::vector<std::string>;

TEST_F(Sender, SendsTheNewestStatusAndThenTheDelete) {
  report("a", "Pending");
  report("b", "Pending");
  report("a", "Running");
  sender_.final_delete(key("a"));
  EXPECT_EQ(sent(), (Calls{"status a Running", "status b Pending", "delete a"}));
  EXPECT_EQ(sent(), Calls{});
}

TEST_F(Sender, SendsEventsAfterTheStatusAndKeepsOnlyTheLast) {
  for (int i = 0; i < 20; ++i) {
    sync::Event event;
    event.involved_object.name = "a";
    event.reason = std::to_string(i);
    sender_.event(key("a"), std::move(event));
  }
  report("a", "Pending");
  sink_.failures = {{Errc::unavailable, "not now", {}}, {Errc::unavailable, "not now", {}}};
  const Calls calls = sent();
  ASSERT_EQ(calls.size(), 11u);
  EXPECT_EQ(calls[2], "status a Pending");
  EXPECT_EQ(calls[3], "event a 12");
  EXPECT_EQ(calls.back(), "event a 19");
}

TEST_F(Sender, TriesAgainWhatMaySucceedLater) {
  for (const Errc code : {Errc::unavailable, Errc::timeout, Errc::exhausted}) {
    sink_.failures.push_back({code, "not now", {}});
  }
  report("a", "Running");
  EXPECT_EQ(sent(), (Calls{"refused status a", "refused status a", "refused status a",
                           "status a Running"}));
}

TEST_F(Sender, DropsWhatNeverWill) {
  for (const Errc code : {Errc::not_found, Errc::conflict, Errc::denied, Errc::invalid}) {
    sink_.failures.push_back({code, "never", {}});
    report("a", "Running");
    EXPECT_EQ(sent(), Calls{"refused status a"});
  }
  sink_.failures.push_back({Errc::not_found, "gone", {}});
  sender_.final_delete(key("a"));
  EXPECT_EQ(sent(), Calls{"refused delete a"});
}

TEST_F(Sender, ForgetsAPodThatIsGone) {
  report("a", "Running");
  report("b", "Running");
  sender_.forget("uid-a");
  EXPECT_EQ(sent(), Calls{"status b Running"});
}

}  // namespace
}  // namespace holdfast::agent::node
