// The lower bound for a wall clock that may be wrong.

#include "sync/identity/wall_floor.h"

namespace holdfast::sync::identity {
namespace {

using namespace std::chrono_literals;

constexpr Duration a_year = std::chrono::hours(365 * 24);
constexpr WallTime epoch{};
constexpr MonoTime boot{};
const WallTime may = parse_rfc3339("2026-05-01T00:00:00Z").value();

TEST(WallFloor, ABoardThatBootsIn1970KnowsBetter) {
  const WallFloor floor(may, boot);
  EXPECT_EQ(floor.trusted_time(boot, epoch), may);
  EXPECT_EQ(floor.trusted_time(boot + 5min, epoch + 5min), may + 5min) << "the floor advances";
  EXPECT_EQ(floor.trusted_time(boot + 5min, may + 1h), may + 1h) << "a later clock is used";
}

TEST(WallFloor, WithoutKnowledgeTheClockIsAllThereIs) {
  WallFloor floor(epoch, boot);
  EXPECT_EQ(floor.trusted_time(boot + 1h, may), may);
  EXPECT_EQ(floor.floor_to_store(boot + 100h), std::nullopt);
}

TEST(WallFloor, StepsOfAYearBothWaysLeaveNoTrace) {
  WallFloor floor(epoch, boot);
  floor.set_from_server(boot, may);
  EXPECT_EQ(floor.trusted_time(boot + 1min, may + a_year), may + a_year)
      << "while the clock says so";
  EXPECT_EQ(floor.trusted_time(boot + 2min, may + 2min), may + 2min) << "and no longer";
  EXPECT_EQ(floor.trusted_time(boot + 3min, may - a_year), may + 3min)
      << "backwards it is not believed";
  EXPECT_EQ(floor.floor_to_store(boot + 3min), may + 3min);
}

TEST(WallFloor, AServerThatProvedItselfIsBelievedBothWays) {
  WallFloor floor(may + a_year, boot);
  EXPECT_EQ(floor.trusted_time(boot, may), may + a_year) << "a wrong floor was kept";
  floor.set_from_server(boot + 1min, may);
  EXPECT_EQ(floor.trusted_time(boot + 1min, may), may);
  EXPECT_EQ(floor.floor_to_store(boot + 1min), may) << "it is corrected for the next run";
  floor.raise_to(boot + 2min, may - a_year);
  EXPECT_EQ(floor.trusted_time(boot + 2min, epoch), may + 1min)
      << "an old certificate does not lower it";
  floor.raise_to(boot + 2min, may + 1h);
  EXPECT_EQ(floor.trusted_time(boot + 2min, epoch), may + 1h);
}

TEST(WallFloor, IsWrittenOnceAnHour) {
  WallFloor floor(may, boot);
  EXPECT_EQ(floor.floor_to_store(boot + 59min), std::nullopt);
  EXPECT_EQ(floor.floor_to_store(boot + 60min), may + 60min);
  EXPECT_EQ(floor.floor_to_store(boot + 61min), std::nullopt);
  EXPECT_EQ(floor.floor_to_store(boot + 121min), may + 121min);
}

}  // namespace
}  // namespace holdfast::sync::identity
