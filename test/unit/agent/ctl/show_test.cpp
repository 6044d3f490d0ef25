// How the tables print texts that other people wrote.

#include "agent/ctl/show.h"

#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::agent {
namespace {

// Clears the screen, sets the title, changes the text direction, and starts a new line.
const std::string evil = "\x1b[2J\x1b]0;t\x07\xe2\x80\xae\nFAKE  line \xc2\x9b";
const std::string safe = "\\x1b[2J\\x1b]0;t\\x07\\u202e\\nFAKE  line \\u009b";

// A document in which every string is replaced by the evil one, in its JSON form.
std::string with_evil(std::string_view document) {
  std::string made(document);
  const std::string text = sync::wire::serialize(sync::json::value(evil));
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
  expect_safe(show_status(with_evil(R"({"node":EVIL,"registered_again":EVIL,"link":{"state":EVIL,)"
                                    R"("reason":EVIL,"fault":EVIL}})")),
              9);
}

TEST(Show, TheLinksLineSaysWhatIsKnownOfThePath) {
  const struct {
    const char* link;
    std::string_view line;
  } rows[] = {
      {R"({"state":"connected","for_seconds":5.2,"reason":"rejoined","answers_late":false})",
       "connected for 5 s (rejoined)"},
      {R"({"state":"connected","for_seconds":5.2,"reason":"rejoined","answers_late":true})",
       "connected for 5 s (rejoined), slow: the cache answers what it can at once"},
      {R"({"state":"offline","for_seconds":5,"reason":"late","answers_late":true,)"
       R"("fault":"timeout"})",
       "offline for 5 s (timeout: late)"},
      {R"({"state":"connected","for_seconds":5,"reason":"of an older agent"})",
       "connected for 5 s (of an older agent)"},
  };
  for (const auto& row : rows) {
    const auto text = show_status(R"({"node":"n","link":)" + std::string(row.link) + "}");
    ASSERT_TRUE(text) << text.error().what;
    EXPECT_NE(text->find(std::string(row.line) + "\n"), std::string::npos) << *text;
  }
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
  EXPECT_EQ(sync::wire::parse_json(*shown).value(), sync::wire::parse_json(document).value());
  for (const char c : *shown) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f')) << static_cast<int>(c);
  }
  EXPECT_EQ(show_json("{\x1b").error().code, Errc::invalid);
}

TEST(ShowReady, HasOneLinePerReasonAndTellsByItsExitCode) {
  const std::string good =
      R"({"namespace":"a","name":"p","ready":true,"until":"2026-01-01T00:00:00Z",)"
      R"("imagesChecked":true,"reasons":[]})";
  const std::string bad =
      R"({"namespace":"a","name":"q","ready":false,"imagesChecked":true,"reasons":[)"
      R"({"reason":"secret","text":"one"},{"reason":"volume","text":"two"}],"warnings":[)"
      R"({"reason":"token_ends","text":"three"}]})";
  const auto of = [](const std::string& pods) {
    return R"({"known":true,"node":"n","pods":[)" + pods + "]}";
  };
  EXPECT_EQ(show_ready(of(good + "," + bad)).value(),
            "POD  READY  TOKEN UNTIL           REMARKS\n"
            "a/p  yes    2026-01-01T00:00:00Z  \n"
            "a/q  no     -                     one\n"
            "                                  two\n"
            "                                  three\n"
            "1 of 2 pods would come back after a reboot without the cloud.\n");
  EXPECT_EQ(exit_code_of_ready(of(good)), 0);
  EXPECT_EQ(exit_code_of_ready(of("")), 0);
  EXPECT_EQ(exit_code_of_ready(of(good + "," + bad)), 1);
  const std::string unknown = R"({"known":false,"why":"nothing was received"})";
  EXPECT_EQ(exit_code_of_ready(unknown), 2);
  EXPECT_EQ(show_ready(unknown).error().what, "nothing was received");
  for (const char* broken : {"", "[]", "{}", R"({"known":true})"}) {
    EXPECT_EQ(exit_code_of_ready(broken), 2) << broken;
    EXPECT_FALSE(show_ready(broken)) << broken;
  }
}

TEST(ShowReady, SaysThatImagesWereNotChecked) {
  const auto text = show_ready(
      R"({"known":true,"pods":[{"namespace":"a","name":"p","ready":true,"reasons":[]}]})");
  EXPECT_NE(text.value().find("was not checked"), std::string::npos);
  expect_safe(show_ready(with_evil(
                  R"({"known":true,"pods":[{"namespace":"a","name":"p","imagesChecked":true,)"
                  R"("reasons":[{"text":EVIL}]}]})")),
              3);
}

}  // namespace
}  // namespace holdfast::agent
