#include "platform/text.h"

namespace holdfast {
namespace {

TEST(Text, Split) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,b,,c", ','), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), (Parts{""}));
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
}

TEST(Text, TrimJoinLower) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(to_lower("Content-TYPE"), "content-type");
  EXPECT_TRUE(equals_ignoring_case("Content-Type", "content-tYPE"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
}

TEST(Text, ParseInt) {
  EXPECT_EQ(parse_int<int>("-12"), -12);
  EXPECT_EQ(parse_int<std::uint8_t>("255"), 255);
  for (const char* text : {"", "1 ", "0x1", "256", "-1", "+1"}) {
    EXPECT_EQ(parse_int<std::uint8_t>(text), std::nullopt) << text;
  }
}

TEST(Text, Base64IsRfc4648) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {"\xff\xfe", "//4="},
  };
  for (const auto& [bytes, text] : rows) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text).value(), bytes);
  }
  for (const char* text : {"Zg", "Zg=", "Z===", "Zm9*", "Zg==Zg==", "===="}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

TEST(Text, Percent) {
  EXPECT_EQ(percent_encode("a b/c=\xc3\xa9~"), "a%20b%2Fc%3D%C3%A9~");
  EXPECT_EQ(percent_decode("a%20b+c%2f", false).value(), "a b+c/");
  EXPECT_EQ(percent_decode("a+b%", true).has_value(), false);
  EXPECT_EQ(percent_decode("a+b", true).value(), "a b");
  EXPECT_FALSE(percent_decode("%4", false));
  EXPECT_FALSE(percent_decode("%zz", false));
  EXPECT_EQ(percent_decode("%41", false).value(), "A");
}

TEST(Text, Hex) { EXPECT_EQ(hex_encode(std::string("\x00\xab", 2)), "00ab"); }

}  // namespace
}  // namespace holdfast
