// Three attacks that need no programs, for a test of the table at the end of the run: one is held
// off, one is not permitted by the machine, and one succeeds.

#include <gtest/gtest.h>

#include "test/attack/report.h"

namespace holdfast::attack {
namespace {

TEST(Example, IsHeldOff) {
  note_peak("holdfast-edge", 2048);
  note_peak("holdfast-edge", 1024);
}

TEST(Example, IsNotPermitted) {
  note("needs a right that is missing");
  GTEST_SKIP() << "NOT RUN: the machine does not permit it";
}

TEST(Example, Succeeds) {
  note_peak("holdfast-cloud", 3072);
  note("first");
  note("second");
  ADD_FAILURE() << "the secret was read";
}

}  // namespace
}  // namespace holdfast::attack

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  holdfast::attack::install_report();
  return RUN_ALL_TESTS() == 1 ? 0 : 1;
}
