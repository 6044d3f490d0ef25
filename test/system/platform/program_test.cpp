// A program's loop and the signals of its process.

#include "platform/loop/program.h"

#include <gtest/gtest.h>

#include <csignal>

namespace holdfast::loop {
namespace {

asio::awaitable<int> wait_for_stop(Stop& stop, bool& seen) {
  (void)raise(SIGTERM);
  co_await stop.wait();
  seen = stop.requested();
  co_return 7;
}

TEST(Program, ASignalAsksItToStop) {
  bool seen = false;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(SystemClock(), [&seen](Stop& stop) { return wait_for_stop(stop, seen); }), 7);
  (void)testing::internal::GetCapturedStderr();
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace holdfast::loop
