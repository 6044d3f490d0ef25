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
}

TEST(Text, Base64RefusesAllButDigitsAndTheirPadding) {
  const std::string zeros("\0\0\0\0", 4);
  for (const std::string& text : std::vector<std::string>{
           "Zg",       "Zg=",          "Z===",     "Zm9*",         "Zg==Zg==",  "====",
           "=",        "Z=9v",         "=m9v",     "Zm9vZg==Zm9v", " Zm9v",     "    Zm9v",
           "   Zm9v ", "Zm9v\n",       "Zm9v\r\n", "Zm9v\n\n\n\n", "\nZm9vZm9", "Zm9v\nZm9",
           "Zm9v----", "Zm9v-",        "Zm9-",     "Zm9_",         "Zm9\xff",   "----",
           "    ",     "Zm9v" + zeros, zeros}) {
    const auto bytes = base64_decode(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error(), (Error{Errc::invalid, "illegal base64 data"})) << text;
  }
}

TEST(Text, Base64KeepsEveryByteAndLength) {
  std::string bytes;
  for (int i = 0; i < 600; ++i) {
    EXPECT_EQ(base64_decode(base64_encode(bytes)).value(), bytes) << i;
    bytes += static_cast<char>(i * 7);
  }
}

// As Go reads it: the bits that the last digit has too many are ignored.
TEST(Text, Base64IgnoresBitsAfterTheLastByte) {
  EXPECT_EQ(base64_decode("Zh==").value(), "f");
  EXPECT_EQ(base64_decode("Zm9=").value(), "fo");
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

TEST(Text, TableColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(format_table({{"NAME", "STATE"}, {"a", "enabled"}, {"longer", ""}}),
            "NAME    STATE\n"
            "a       enabled\n"
            "longer  \n");
  EXPECT_EQ(format_table({}), "");
}

TEST(Text, Hex) { EXPECT_EQ(hex_encode(std::string("\x00\xab", 2)), "00ab"); }

}  // namespace
}  // namespace holdfast
