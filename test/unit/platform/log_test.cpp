#include "platform/log.h"

#include "platform/text.h"

namespace holdfast {
namespace {

// Not inlined, because GCC 12 then warns of a copy past the end of the field, which does not
// happen.
[[gnu::noinline]] LogField field_of(const Error& error) { return {"e", error}; }

TEST(Log, FieldsAreQuotedWhereTheyMust) {
  EXPECT_EQ(format_log_field({"a", "plain"}), "a=plain");
  EXPECT_EQ(format_log_field({"a", "10.0.0.1:80/x,y;z"}), "a=10.0.0.1:80/x,y;z");
  EXPECT_EQ(format_log_field({"a", ""}), "a=\"\"");
  EXPECT_EQ(format_log_field({"a", "two words"}), "a=\"two words\"");
  EXPECT_EQ(format_log_field({"a", "x=y"}), "a=\"x=y\"");
  EXPECT_EQ(format_log_field({"a", "say \"hi\""}), "a=\"say \\\"hi\\\"\"");
  EXPECT_EQ(format_log_field({"a", "back\\slash"}), "a=\"back\\\\slash\"");
  EXPECT_EQ(format_log_field({"a", "line\nbreak\tand\x01more"}),
            "a=\"line\\nbreak\\tand\\x01more\"");
  EXPECT_EQ(format_log_field({"a", "\x1b[2J"}), "a=\"\\x1b[2J\"");
  EXPECT_EQ(format_log_field({"a", "\xc2\x9b\xe2\x80\xae\xff"}), "a=\"\\u009b\\u202e\\xff\"");
  EXPECT_EQ(format_log_field({"a", "gr\xc3\xbc\xc3\x9f"}), "a=gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(format_log_field({"a", true}), "a=true");
  EXPECT_EQ(format_log_field({"a", false}), "a=false");
  EXPECT_EQ(format_log_field({"a", -7}), "a=-7");
  EXPECT_EQ(format_log_field({"a", std::size_t{7}}), "a=7");
  const Error late{Errc::timeout, "GET /: late", {}};
  EXPECT_EQ(format_log_field(field_of(late)), "e=\"timeout: GET /: late\"");
}

TEST(Log, LevelsAreReadByName) {
  EXPECT_EQ(parse_log_level("debug").value(), LogLevel::debug);
  EXPECT_EQ(parse_log_level("off").value(), LogLevel::off);
  const auto bad = parse_log_level("loud");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Errc::invalid);
  EXPECT_EQ(bad.error().what, "log level \"loud\" is none of debug, info, warn, error, off");
}

// The lines that `body` logs, without their times.
template <class Body>
std::vector<std::string> lines_of(Body body) {
  testing::internal::CaptureStderr();
  body();
  const std::string all = testing::internal::GetCapturedStderr();
  std::vector<std::string> lines;
  for (const std::string_view line : split(all, '\n')) {
    if (!line.empty()) lines.emplace_back(line.substr(line.find(' ') + 1));
  }
  return lines;
}

TEST(Log, OneLinePerMessageWithTimeLevelAndFields) {
  testing::internal::CaptureStderr();
  log_info("log test evict", {{"node", "a b"}, {"silent_s", 340}});
  const std::string line = testing::internal::GetCapturedStderr();
  ASSERT_GT(line.size(), 25u);
  EXPECT_EQ(line[10], 'T');
  EXPECT_EQ(line[23], 'Z');
  EXPECT_EQ(line.substr(24), " info log test evict node=\"a b\" silent_s=340\n");
}

TEST(Log, TheLevelHoldsBack) {
  const auto lines = lines_of([] {
    set_log_level(LogLevel::warn);
    log_debug("log test level");
    log_info("log test level");
    log_warn("log test level");
    log_error("log test level");
    set_log_level(LogLevel::off);
    log_error("log test level");
    set_log_level(LogLevel::info);
    log_debug("log test level");
    log_info("log test level");
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"warning log test level", "error log test level",
                                             "info log test level"}));
}

TEST(Log, RepetitionsAreHeldBackAndCounted) {
  const auto lines = lines_of([] {
    set_log_limits({.burst = 2, .window = std::chrono::seconds(3600)});
    for (int i = 0; i < 5; ++i) log_info("log test repeated", {{"i", i}});
    log_info("log test another");
    set_log_limits({.burst = 2, .window = std::chrono::seconds(0)});
    log_info("log test repeated", {{"i", 9}});
    set_log_limits({});
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"info log test repeated i=0",
                                             "info log test repeated i=1", "info log test another",
                                             "info log test repeated i=9 repeated=3"}));
}

// A message that is held back is printed again once so many others came that counts were forgotten.
TEST(Log, OnlySoManyMessagesAreCounted) {
  const auto lines = lines_of([] {
    set_log_limits({.burst = 1, .window = std::chrono::seconds(3600)});
    for (int i = 0; i < 3; ++i) log_info("log test counted");
    for (int i = 0; i < 1000; ++i) log_info("log test other " + std::to_string(i));
    log_info("log test counted");
    set_log_limits({});
  });
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "info log test counted"), 2);
  EXPECT_EQ(lines.size(), 1002u);
}

}  // namespace
}  // namespace holdfast
