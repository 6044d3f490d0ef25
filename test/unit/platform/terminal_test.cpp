#include "platform/terminal.h"

namespace holdfast {
namespace {

TEST(Terminal, WhatATerminalObeysIsEscaped) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"plain / text: \"quoted\" \\ back", "plain / text: \"quoted\" \\ back"},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
       "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"},
      {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
      {std::string("nul\0!", 5), "nul\\x00!"},
      {"del\x7f", "del\\x7f"},
      {"c1 \xc2\x9b"
       "31m",
       "c1 \\u009b31m"},
      {"over\xe2\x80\xae"
       "ride \xe2\x81\xa6"
       "isolate",
       "over\\u202eride \\u2066isolate"},
      {"zero\xe2\x80\x8bwidth \xef\xbb\xbf", "zero\\u200bwidth \\ufeff"},
      {"line\xe2\x80\xa8"
       "separator",
       "line\\u2028separator"},
      {"tag\xf3\xa0\x81\x81", "tag\\U000e0041"},
      {"raw c1 \x9b", "raw c1 \\x9b"},
      {"cut \xe2\x80", "cut \\xe2\\x80"},
      {"overlong \xc0\x9b \xe0\x80\x9b", "overlong \\xc0\\x9b \\xe0\\x80\\x9b"},
      {"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"},
      {"too large \xf5\x80\x80\x80", "too large \\xf5\\x80\\x80\\x80"},
  };
  for (const auto& [text, expect] : rows) {
    EXPECT_EQ(escape_for_terminal(text), expect);
    EXPECT_EQ(escape_for_terminal(expect), expect) << "escaping twice changes nothing";
  }
  EXPECT_EQ(escape_for_terminal("a\nb\x1b\n", LineEnds::kept), "a\nb\\x1b\n");
}

TEST(Terminal, JsonStaysTheSameJson) {
  EXPECT_EQ(escape_json_for_terminal("{\"a\":\n\t\"\xe2\x80\xae\x1b\x7f\xc2\x9b\"}"),
            "{\"a\":\n\t\"\\u202e\\u001b\\u007f\\u009b\"}");
  EXPECT_EQ(escape_json_for_terminal("\"\xf3\xa0\x81\x81\""), "\"\\udb40\\udc41\"");
  EXPECT_EQ(escape_json_for_terminal("\"\xff\""), "\"\\ufffd\"");
}

}  // namespace
}  // namespace holdfast
