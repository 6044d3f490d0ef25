#include "agent/node/process/log_limit.h"

#include <fcntl.h>

#include "test/support/full_disk.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::node {
namespace {

class LogLimit : public testing::Test {
 protected:
  [[nodiscard]] fs::Path log() const { return scratch_.path() / "log"; }
  [[nodiscard]] std::string read(const fs::Path& file) const {
    return fs::read_all(file, 1000).value_or("none");
  }
  holdfast::test::ScratchDir scratch_;
};

TEST_F(LogLimit, AShortLogStays) {
  EXPECT_EQ(limit_log(log(), 10).value(), false);
  ASSERT_TRUE(fs::append(log(), "0123456789"));
  EXPECT_EQ(limit_log(log(), 10).value(), false);
  EXPECT_EQ(read(log()), "0123456789");
}

TEST_F(LogLimit, TheEndOfALongLogIsKeptAndWritingGoesOn) {
  const Descriptor writer(::open(log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(writer.get(), "0123456789abc", 13), 13);
  EXPECT_EQ(limit_log(log(), 10).value(), true);
  EXPECT_EQ(read(log()), "");
  EXPECT_EQ(read(scratch_.path() / "log.1"), "89abc");
  ASSERT_EQ(::write(writer.get(), "next", 4), 4);
  EXPECT_EQ(read(log()), "next");
}

TEST_F(LogLimit, WhatCannotBeKeptIsNotCut) {
  ASSERT_TRUE(fs::append(log(), "0123456789abc"));
  const holdfast::test::FullDisk full(1);
  EXPECT_FALSE(limit_log(log(), 10));
  EXPECT_EQ(read(log()), "0123456789abc");
}

}  // namespace
}  // namespace holdfast::agent::node
