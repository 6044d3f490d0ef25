// What the tables show of texts that somebody else wrote.

#include "agent/ctl/show.h"

#include "platform/text.h"
#include "sync/api/json.h"

namespace holdfast::agent {
namespace {

// Clears the screen, sets the title, changes the direction, and starts a line of its own.
const std::string evil = "\x1b[2J\x1b]0;t\x07\xe2\x80\xae\nFAKE  line \xc2\x9b";
const std::string safe = "\\x1b[2J\\x1b]0;t\\x07\\u202e\\nFAKE  line \\u009b";

// A document in which every string is the evil one, as JSON has it.
std::string with_evil(std::string_view document) {
  std::string made(document);
  const std::string text = sync::serialize(sync::json::value(evil));
  for (std::size_t at = made.find("EVIL"); at != std::string::npos; at = made.find("EVIL", at)) {
    made.replace(at, 4, text);
    at += text.size();
  }
  return made;
}

void expect_safe(const Result<std::string>& text, std::size_t lines) {
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(text->find('\x1b'), std::string::npos);
  EXPECT_EQ(text->find('\x07'), std::string::npos);
  EXPECT_EQ(text->find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(text->find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(text->find(safe), std::string::npos) << *text;
  EXPECT_EQ(split(*text, '\n').size(), lines + 1) << *text;
}

TEST(Show, NothingThatATerminalObeysIsPrinted) {
  expect_safe(
      show_objects(with_evil(R"([{"metadata":{"namespace":EVIL,"name":EVIL,"resourceVersion":EVIL,)"
                             R"("creationTimestamp":EVIL},"status":{"phase":EVIL}}])")),
      2);
  expect_safe(
      show_journal(with_evil(R"([{"seq":1,"at":EVIL,"kind":EVIL,"subject":EVIL,"what":EVIL}])")),
      2);
  expect_safe(
      show_status(with_evil(R"({"node":EVIL,"link":{"state":EVIL,"reason":EVIL,"fault":EVIL}})")),
      8);
}

TEST(Show, APodIsExplainedSafely) {
  const std::string pods = with_evil(
      R"([{"metadata":{"namespace":"ns","name":"p"},"spec":{"nodeName":EVIL,"containers":[],)"
      R"("tolerations":[{"key":EVIL,"effect":"NoExecute","operator":"Exists"}]},)"
      R"("status":{"phase":EVIL,"containerStatuses":[{"name":EVIL,"ready":true,)"
      R"("restartCount":0,"image":"i","imageID":"i"}]}}])");
  const std::string status = with_evil(R"({"link":{"state":EVIL,"reason":EVIL}})");
  expect_safe(explain_pod("ns", "p", {.status = status, .pods = pods, .journal = "[]"}), 6);
}

TEST(Show, JsonStaysJsonAndMeansTheSame) {
  const std::string document = with_evil(R"([{"name":EVIL}])");
  const auto shown = show_json(document);
  ASSERT_TRUE(shown);
  EXPECT_EQ(sync::parse_json(*shown).value(), sync::parse_json(document).value());
  for (const char c : *shown) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f')) << static_cast<int>(c);
  }
  EXPECT_EQ(show_json("{\x1b").error().code, Errc::invalid);
}

}  // namespace
}  // namespace holdfast::agent
