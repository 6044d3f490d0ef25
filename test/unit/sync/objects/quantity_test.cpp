// Quantities: parsing, canonical text, rounding, limits, and upstream's errors.

#include "sync/objects/quantity.h"

#include <limits>

namespace holdfast::sync::objects {
namespace {

struct QuantityLine {
  std::string_view text;
  std::string_view canonical;
  std::int64_t value;
  std::int64_t milli;
};

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

const QuantityLine quantity_lines[] = {
    {"0", "0", 0, 0},
    {"-0", "0", 0, 0},
    {"0.000", "0", 0, 0},
    {"1", "1", 1, 1000},
    {"+1", "1", 1, 1000},
    {"0.5", "500m", 1, 500},
    {".5", "500m", 1, 500},
    {"-1.5", "-1500m", -2, -1500},
    {"100m", "100m", 1, 100},
    {"1000m", "1", 1, 1000},
    {"1500m", "1500m", 2, 1500},
    {"1n", "1n", 1, 1},
    {"0.1n", "1n", 1, 1},
    {"-0.1n", "-1n", -1, -1},
    {"1u", "1u", 1, 1},
    {"1k", "1k", 1000, 1000000},
    {"1000", "1k", 1000, 1000000},
    {"1100", "1100", 1100, 1100000},
    {"5M", "5M", 5000000, 5000000000},
    {"1Ki", "1Ki", 1024, 1024000},
    {"1024", "1024", 1024, 1024000},
    {"1000Ki", "1000Ki", 1024000, 1024000000},
    {"1024Ki", "1Mi", 1 << 20, 1048576000},
    {"8Gi", "8Gi", 8LL << 30, 8589934592000},
    {"1.5Gi", "1536Mi", 3LL << 29, 1610612736000},
    {"0.5Ki", "512", 512, 512000},
    {"0.1Ki", "102400m", 103, 102400},
    {"10.1Ki", "10342400m", 10343, 10342400},
    {"1e3", "1e3", 1000, 1000000},
    {"1E3", "1e3", 1000, 1000000},
    {"12e-3", "12e-3", 1, 12},
    {"1.2345e2", "123450e-3", 124, 123450},
    {"1e+2", "100", 100, 100000},
    {"1E", "1E", 1000000000000000000, most},
    {"007", "7", 7, 7000},
    {"9223372036854775807", "9223372036854775807", most, most},
    {"9223372036854775808", "9223372036854775807", most, most},
    {"-99999999999999999999999", "-9223372036854775807", -most, -most},
    {"8Ei", "9223372036854775807", most, most},
    {"1e300", "9223372036854775807", most, most},
    {"0e2000000000", "0", 0, 0},
    {"1e-2000000000", "1e-9", 1, 1},
};

TEST(Quantity, ParsesAndPrints) {
  for (const QuantityLine& line : quantity_lines) {
    const auto quantity = Quantity::parse(line.text);
    ASSERT_TRUE(quantity.has_value()) << line.text;
    EXPECT_EQ(quantity->text(), line.canonical) << line.text;
    EXPECT_EQ(quantity->value(), line.value) << line.text;
    EXPECT_EQ(quantity->milli_value(), line.milli) << line.text;
    EXPECT_EQ(Quantity::parse(quantity->text()), *quantity) << line.text;
  }
}

struct BadQuantity {
  std::string_view text;
  std::string_view error;
};

constexpr std::string_view wrong_format =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view wrong_suffix = "unable to parse quantity's suffix";
constexpr std::string_view wrong_number = "unable to parse numeric part of quantity";

const BadQuantity bad_quantities[] = {
    {"", wrong_format},      {"abc", wrong_format},
    {"1.1.1", wrong_format}, {"1 ", wrong_format},
    {" 1", wrong_format},    {"1x", wrong_format},
    {"1e5x", wrong_format},  {"--1", wrong_suffix},
    {"1K", wrong_suffix},    {"1mm", wrong_suffix},
    {"1e", wrong_suffix},    {"1ki", wrong_suffix},
    {"1Ki5", wrong_suffix},  {"1e99999999999", wrong_suffix},
    {".", wrong_number},     {"-", wrong_number},
    {"k", wrong_number},
};

TEST(Quantity, RefusesInUpstreamsWords) {
  for (const BadQuantity& bad : bad_quantities) {
    const auto quantity = Quantity::parse(bad.text);
    ASSERT_FALSE(quantity.has_value()) << bad.text;
    EXPECT_EQ(quantity.error().what, bad.error) << bad.text;
  }
}

TEST(Quantity, EndlessTextIsRefused) {
  const std::string zeros(1000, '0');
  EXPECT_EQ(Quantity::parse("0." + zeros + "1e2000").error().what, wrong_format);
}

TEST(Quantity, ComparesAndAdds) {
  const Quantity half = *Quantity::parse("500m");
  EXPECT_EQ(*Quantity::parse("1000m"), Quantity::units(1));
  EXPECT_LT(half, Quantity::units(1));
  EXPECT_GT(Quantity::bytes(1024), Quantity::units(1000));
  Quantity sum = Quantity::bytes(512);
  sum += *Quantity::parse("1536");
  EXPECT_EQ(sum.text(), "2Ki");
  sum -= *Quantity::parse("3Ki");
  EXPECT_EQ(sum.text(), "-1Ki");
  EXPECT_TRUE(sum.negative());
  EXPECT_TRUE(Quantity().zero());
  Quantity full = Quantity::units(most);
  full += full;
  EXPECT_EQ(full.value(), most);
  EXPECT_EQ(Quantity::millis(-1500).text(), "-1500m");
}

}  // namespace
}  // namespace holdfast::sync::objects
