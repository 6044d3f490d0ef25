// The agent's wall clock across restarts, boots in 1970 and wrong system clocks.

#include "agent/edge/identity/trusted_clock.h"

#include <sys/stat.h>

#include <fstream>

#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

class TrustedClockTest : public testing::Test {
 protected:
  test::ScratchDir dir_;
  fs::Path file_ = dir_.path() / "time-floor";
  test::VirtualClock system_;
};

TEST_F(TrustedClockTest, ABootIn1970FindsTheLastKnownTime) {
  const WallTime today = system_.wall();
  {
    TrustedClock clock(system_, file_);
    EXPECT_EQ(clock.wall(), today);
    clock.set_from_server(today);
    system_.advance(90min);
    clock.keep();
  }
  struct stat status {};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  system_.jump_wall(WallTime{} - system_.wall());
  TrustedClock clock(system_, file_);
  EXPECT_EQ(clock.wall(), today + 90min);
  system_.advance(1min);
  EXPECT_EQ(clock.wall(), today + 91min);
  system_.jump_wall(today + 24h - system_.wall());
  EXPECT_EQ(clock.wall(), today + 24h) << "once it is correct, the system's time is used";
}

TEST_F(TrustedClockTest, AYearAheadIsForgottenWhenItIsTakenBack) {
  const WallTime today = system_.wall();
  TrustedClock clock(system_, file_);
  clock.set_from_server(today);
  system_.jump_wall(365 * 24h);
  EXPECT_EQ(clock.wall(), today + 365 * 24h);
  clock.keep();
  system_.jump_wall(-2 * 365 * 24h);
  EXPECT_EQ(clock.wall(), today);
  EXPECT_EQ(TrustedClock(system_, file_).wall(), today);
}

TEST_F(TrustedClockTest, ABadFileIsAsGoodAsNone) {
  for (const std::string& text : {std::string(), std::string("yesterday"), std::string(300, '2')}) {
    std::ofstream(file_) << text;
    EXPECT_EQ(TrustedClock(system_, file_).wall(), system_.wall());
  }
}

}  // namespace
}  // namespace holdfast::agent
