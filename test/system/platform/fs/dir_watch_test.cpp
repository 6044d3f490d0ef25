#include "platform/fs/dir_watch.h"

#include "platform/proc/identity.h"
#include "test/support/scratch_dir.h"

namespace holdfast::fs {
namespace {

using namespace std::chrono_literals;

class DirWatchTest : public testing::Test {
 protected:
  // Whether the descriptor is readable now.
  [[nodiscard]] bool told() const {
    const Descriptor waiting(::dup(watch_.descriptor()));
    return proc::wait_for_end(waiting, 0s);
  }

  test::ScratchDir dir_;
  DirWatch watch_ = DirWatch::create().value();
};

TEST_F(DirWatchTest, TellsOfNewAndRenamedFiles) {
  ASSERT_TRUE(watch_.add(dir_.path()));
  ASSERT_TRUE(watch_.add(dir_.path()));
  EXPECT_FALSE(told());
  ASSERT_TRUE(append(dir_.path() / "a", "x"));
  EXPECT_TRUE(told());
  watch_.drain();
  EXPECT_FALSE(told());
  ASSERT_TRUE(atomic_write(dir_.path() / "a", "y"));
  EXPECT_TRUE(told());
}

TEST_F(DirWatchTest, IsSilentAfterwards) {
  ASSERT_TRUE(watch_.add(dir_.path()));
  EXPECT_EQ(watch_.watched(), std::vector<Path>{dir_.path()});
  watch_.remove(dir_.path());
  watch_.remove(dir_.path());
  EXPECT_EQ(watch_.watched(), std::vector<Path>{});
  watch_.drain();
  ASSERT_TRUE(append(dir_.path() / "a", "x"));
  EXPECT_FALSE(told());
}

TEST_F(DirWatchTest, NeedsADirectory) {
  ASSERT_TRUE(append(dir_.path() / "file", "x"));
  EXPECT_EQ(watch_.add(dir_.path() / "none").error().code, Errc::not_found);
  EXPECT_EQ(watch_.add(dir_.path() / "file").error().code, Errc::not_found);
}

}  // namespace
}  // namespace holdfast::fs
