#include "platform/time.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(Time, Rfc3339GoesThereAndBack) {
  const struct {
    std::string text;
    TimeDigits digits;
    std::string back;
  } rows[] = {
      {"1970-01-01T00:00:00Z", TimeDigits::seconds, "1970-01-01T00:00:00Z"},
      {"2015-01-01T12:00:00Z", TimeDigits::micros, "2015-01-01T12:00:00.000000Z"},
      {"2026-11-21T01:02:03.000004999Z", TimeDigits::micros, "2026-11-21T01:02:03.000004Z"},
      {"2024-02-29T23:59:59.5+02:30", TimeDigits::seconds, "2024-02-29T21:29:59Z"},
      {"1969-12-31T23:00:00-01:00", TimeDigits::seconds, "1970-01-01T00:00:00Z"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const auto time = parse_rfc3339(row.text);
    ASSERT_TRUE(time);
    EXPECT_EQ(format_rfc3339(*time, row.digits), row.back);
  }
}

TEST(Time, Rfc3339RefusesWhatIsNoTime) {
  for (const char* text : {"", "now", "2026-11-21", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
                           "2026-11-21T24:00:00Z", "2026-11-21T01:02:03", "2026-11-21T01:02:03.Z",
                           "2026-11-21T01:02:03Zx", "2026-11-21T01:02:03+25:00",
                           "9999-01-01T00:00:00Z", "-026-11-21T01:02:03Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, Errc::invalid);
    EXPECT_NE(time.error().what.find(text), std::string::npos);
  }
}

TEST(Time, DurationsReadAndPrintAsInGo) {
  const struct {
    std::string text;
    Duration value;
    std::string printed;
  } rows[] = {
      {"0", 0s, "0s"},
      {"40s", 40s, "40s"},
      {"5m", 5min, "5m0s"},
      {"1h2m3.5s", 1h + 2min + 3500ms, "1h2m3.5s"},
      {"300ms", 300ms, "300ms"},
      {"-1.5h", -90min, "-1h30m0s"},
      {"1us", 1us, "1\xc2\xb5s"},
      {"1.5ms", 1500us, "1.5ms"},
      {"7ns", 7ns, "7ns"},
      {".5s", 500ms, "500ms"},
      {"100h", 100h, "100h0m0s"},
      {"+2s", 2s, "2s"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const auto value = parse_duration(row.text);
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, row.value);
    EXPECT_EQ(format_duration(*value), row.printed);
  }
}

TEST(Time, DurationsRefuseWhatIsNone) {
  for (const char* text :
       {"", "5", "s", "1x", "1s2", "1 s", "--1s", "1e3s", "nan", "inf", "300y", "99999999h", "-"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Time, SystemClockRuns) {
  const SystemClock clock;
  const MonoTime first = clock.mono();
  EXPECT_LE(first, clock.mono());
  EXPECT_GT(clock.wall(), WallTime{});
}

}  // namespace
}  // namespace holdfast
