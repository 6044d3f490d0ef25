#include "sync/lifecycle/autonomy.h"

#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

StringMap annotations(std::string_view key, std::string_view value) {
  StringMap map;
  map.set(key, value);
  return map;
}

TEST(Autonomy, IsReadFromTheAnnotations) {
  const struct {
    StringMap annotations;
    Autonomy expect;
  } rows[] = {
      {{}, {}},
      {annotations(objects::annotation_binding, "true"), {.bound = true, .wanted = true}},
      {annotations(objects::annotation_binding, "false"), {}},
      {annotations(objects::annotation_binding, "True"), {}},
      {annotations(objects::annotation_autonomy, "true"),
       {.bound = true, .classic = true, .wanted = true}},
      {annotations(objects::annotation_autonomy, "yes"), {}},
      {annotations(objects::annotation_autonomy_duration, "2h"),
       {.bound = true, .wanted = true, .duration = 2h}},
      {annotations(objects::annotation_autonomy_duration, "0"), {.bound = true, .wanted = true}},
      {annotations(objects::annotation_autonomy_duration, "-1h"), {.bound = true, .wanted = true}},
      {annotations(objects::annotation_autonomy_duration, ""), {}},
      {annotations(objects::annotation_autonomy_duration, "soon"),
       {.bound = true, .malformed = "soon"}},
      {annotations(objects::annotation_autonomy_duration, "300"),
       {.bound = true, .malformed = "300"}},
      {annotations(objects::annotation_autonomy_duration, "999999999h"),
       {.bound = true, .malformed = "999999999h"}},
  };
  for (const auto& row : rows) EXPECT_EQ(autonomy_of(row.annotations), row.expect);
}

TEST(Autonomy, TheSwitchBeatsTheDuration) {
  StringMap both = annotations(objects::annotation_autonomy_duration, "1m");
  both.set(objects::annotation_autonomy, "true");
  const Autonomy expect{.bound = true, .classic = true, .wanted = true};
  EXPECT_EQ(autonomy_of(both), expect);
}

TEST(Autonomy, WithheldUntilTheDurationHasPassed) {
  const Autonomy hour{.bound = true, .wanted = true, .duration = 1h};
  const Autonomy ever{.bound = true, .wanted = true};
  const Autonomy bad{.bound = true, .malformed = "soon"};
  const auto mode = AutonomyMode::withhold;
  EXPECT_TRUE(is_withheld(hour, mode, start, start + 1h));
  EXPECT_FALSE(is_withheld(hour, mode, start, start + 1h + 1ns));
  EXPECT_EQ(withheld_until(hour, start + 5s), start + 1h + 5s);
  EXPECT_TRUE(is_withheld(ever, mode, start, start + 24h * 365));
  EXPECT_EQ(withheld_until(ever, start), MonoTime::max());
  EXPECT_FALSE(is_withheld(bad, mode, start, start));
  EXPECT_FALSE(is_withheld(ever, AutonomyMode::off, start, start));
  EXPECT_FALSE(is_withheld(ever, AutonomyMode::openyurt, start, start));
}

TEST(Autonomy, LongDurationsDoNotOverflow) {
  const Autonomy centuries{.bound = true, .wanted = true, .duration = Duration::max()};
  EXPECT_EQ(withheld_until(centuries, start + 1h), MonoTime::max());
  EXPECT_TRUE(is_withheld(centuries, AutonomyMode::withhold, start + 1h, start + 2h));
}

TEST(Autonomy, PodsStayReadyByMode) {
  const Autonomy bad{.bound = true, .malformed = "soon"};
  const Autonomy binding{.bound = true, .wanted = true};
  const Autonomy classic{.bound = true, .classic = true, .wanted = true};
  const struct {
    AutonomyMode mode;
    Autonomy autonomy;
    bool expect;
  } rows[] = {
      {AutonomyMode::off, classic, false},
      {AutonomyMode::withhold, bad, false},
      {AutonomyMode::withhold, binding, true},
      {AutonomyMode::openyurt, bad, true},  // as OpenYurt, which does not check the value
      {AutonomyMode::openyurt, {}, false},
      {AutonomyMode::openyurt_classic, binding, false},
      {AutonomyMode::openyurt_classic, classic, true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(keeps_pods_ready(row.autonomy, row.mode, start, start), row.expect);
  }
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
