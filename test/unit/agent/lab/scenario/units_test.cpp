// Rates, sizes, fractions, and words that are near to each other.

#include "agent/lab/scenario/units.h"

#include <gtest/gtest.h>

#include "agent/lab/scenario/problems.h"

namespace holdfast::agent::lab {
namespace {

TEST(ScenarioUnits, RatesAreBytesPerSecond) {
  EXPECT_EQ(parse_link_rate("2Mbit/s"), 250'000);
  EXPECT_EQ(parse_link_rate("64 kbit/s"), 8'000);
  EXPECT_EQ(parse_link_rate("0.5kbit/s"), 62);
  EXPECT_EQ(parse_link_rate("64KiB/s"), 65'536);
  EXPECT_EQ(parse_link_rate("1.5MB/s"), 1'500'000);
  EXPECT_EQ(parse_link_rate("8bit/s"), 1);
  for (const char* bad : {"", "2", "2Mb", "Mbit/s", "-1B/s", "inf B/s", "nanB/s", "0B/s", "7bit/s",
                          "9000Gbit/s", "1e300B/s"}) {
    EXPECT_FALSE(parse_link_rate(bad)) << bad;
  }
}

TEST(ScenarioUnits, SizesAreBytes) {
  EXPECT_EQ(parse_byte_size("512KiB"), 524'288);
  EXPECT_EQ(parse_byte_size("5MB"), 5'000'000);
  EXPECT_EQ(parse_byte_size("0"), 0);
  EXPECT_EQ(parse_byte_size("1.5GiB"), 1'610'612'736);
  for (const char* bad : {"", "5Mb", "-1B", "infB", "1e16", "5 KiB ", "KiB"}) {
    EXPECT_FALSE(parse_byte_size(bad)) << bad;
  }
}

TEST(ScenarioUnits, FractionsMayBePercentages) {
  EXPECT_EQ(parse_fraction("0.02"), 0.02);
  EXPECT_EQ(parse_fraction("2%"), 0.02);
  for (const char* bad : {"", "%", "-1%", "nan", "1 %%", "a"}) {
    EXPECT_FALSE(parse_fraction(bad)) << bad;
  }
  EXPECT_EQ(parse_number("-1.5"), -1.5);
  EXPECT_FALSE(parse_number("--1"));
  EXPECT_FALSE(parse_number("inf"));
}

TEST(ScenarioHints, OnlyNearWordsAreOffered) {
  const ScenarioProblems problems("");
  const std::vector<std::string_view> known = {"zone", "nodes", "labels", "a", "b"};
  EXPECT_EQ(problems.hint("zne", known), "; did you mean \"zone\"?");
  EXPECT_EQ(problems.hint("ndoes", known), "; did you mean \"nodes\"?");
  EXPECT_EQ(problems.hint("label", known), "; did you mean \"labels\"?");
  EXPECT_EQ(problems.hint("c", known), "");
  EXPECT_EQ(problems.hint("capacity", known), "");
  EXPECT_EQ(problems.hint(std::string(100, 'a'), known), "");
}

TEST(ScenarioHints, TextsAreEscapedAndCut) {
  EXPECT_EQ(quoted_text("a\x1b[31m\nb"), "\"a\\x1b[31m\\x0ab\"");
  EXPECT_EQ(quoted_text(std::string(100, 'a')), "\"" + std::string(80, 'a') + "...\"");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace holdfast::agent::lab
