#include "platform/config/options.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"

namespace holdfast::config {
namespace {

using namespace std::chrono_literals;

struct Settings {
  std::string name = "default";
  bool fast = false;
  int count = 3;
  double share = 0.5;
  Duration wait = 40s;
  std::vector<std::string> agents = {"kubelet"};
  std::string word = {};

  bool operator==(const Settings&) const = default;
};

struct Outcome {
  Settings settings = {};
  std::string command = {};
  std::string error = {};

  bool operator==(const Outcome&) const = default;
};

Outcome parse(std::vector<std::string> words) {
  Outcome outcome;
  Settings& settings = outcome.settings;
  Options options("prog", "a program");
  options.add("name", settings.name, "a name");
  options.add("fast", settings.fast, "a switch");
  options.retire("old", "use --name");
  options.begin_command("run", "runs");
  options.add("count", settings.count, "a count");
  options.add("share", settings.share, "a share");
  options.add("wait", settings.wait, "a duration");
  options.add("agents", settings.agents, "a list");
  options.begin_command("show", "shows");
  options.add_positional("word", settings.word, "a word");
  words.insert(words.begin(), "prog");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto parsed = options.parse(static_cast<int>(argv.size()), argv.data());
  if (parsed) {
    outcome.command = parsed->command;
  } else {
    outcome.error = parsed.error().what;
  }
  return outcome;
}

TEST(Options, FlagsReachTheirFields) {
  EXPECT_EQ(parse({"run"}), (Outcome{.command = "run"}));
  EXPECT_EQ(parse({"run", "--name=x", "--fast", "--count", "7", "--share=0.25", "--wait=1m30s",
                   "--agents=a,b", "--agents", "c"}),
            (Outcome{.settings = {.name = "x",
                                  .fast = true,
                                  .count = 7,
                                  .share = 0.25,
                                  .wait = 90s,
                                  .agents = {"a", "b", "c"}},
                     .command = "run"}));
  EXPECT_EQ(parse({"run", "--name=", "--agents="}),
            (Outcome{.settings = {.name = "", .agents = {}}, .command = "run"}));
  EXPECT_EQ(parse({"run", "--name", "", "--count=1"}).settings.name, "");
  EXPECT_FALSE(parse({"run", "--fast=false"}).settings.fast);
  EXPECT_EQ(parse({"show", "me"}), (Outcome{.settings = {.word = "me"}, .command = "show"}));
}

TEST(Options, AFlagTakesOneValueAndLeavesTheArgumentsWithoutAFlag) {
  const Outcome shown{.settings = {.name = "x", .word = "me"}, .command = "show"};
  EXPECT_EQ(parse({"show", "--name=x", "me"}), shown);
  EXPECT_EQ(parse({"show", "--name", "x", "me"}), shown);
  EXPECT_EQ(parse({"show", "me", "--name", "x"}), shown);
}

TEST(Options, BadFlagsAreNamed) {
  EXPECT_EQ(parse({"run", "--count=many"}).error, "--count: not a whole number: \"many\"");
  EXPECT_EQ(parse({"run", "--count="}).error, "--count: not a whole number: \"\"");
  EXPECT_EQ(parse({"run", "--fast="}).error, "--fast: neither true nor false: \"\"");
  EXPECT_EQ(parse({"run", "--wait=5"}).error, "--wait: not a duration: \"5\"");
  EXPECT_EQ(parse({"run", "--share=x"}).error, "--share: not a number: \"x\"");
  EXPECT_EQ(parse({"run", "--name=a", "--name=b"}).error, "--name: one value expected");
  EXPECT_NE(parse({"run", "--nod=1"}).error.find("--nod"), std::string::npos);
  for (const char* retired : {"--old", "--old=x", "--old="}) {
    EXPECT_EQ(parse({"run", retired}).error, "--old: use --name") << retired;
  }
  EXPECT_NE(parse({}).error, "");
  EXPECT_NE(parse({"show"}).error.find("word"), std::string::npos);
}

class OptionsFile : public testing::Test {
 protected:
  Outcome with_file(const std::string& text, std::vector<std::string> more = {}) {
    EXPECT_TRUE(fs::atomic_write(file, text, 0644));
    std::vector<std::string> words{"run", "--config", file};
    words.insert(words.end(), more.begin(), more.end());
    return parse(words);
  }
  const test::ScratchDir scratch;
  const std::string file = scratch.path() / "p.yaml";
};

TEST_F(OptionsFile, SetsWhatFlagsDoNot) {
  EXPECT_EQ(with_file("name: y\nfast: true\nagents: [a, b]\ncount: 9\n", {"--count=1"}),
            (Outcome{.settings = {.name = "y", .fast = true, .count = 1, .agents = {"a", "b"}},
                     .command = "run"}));
  EXPECT_EQ(with_file(""), (Outcome{.command = "run"}));
}

TEST_F(OptionsFile, MistakesAreNamedByLine) {
  EXPECT_EQ(with_file("name: y\nnaem: z\n").error, file + ":2: unknown key \"naem\"");
  EXPECT_EQ(with_file("old: y\n").error, file + ":1: old: use --name");
  EXPECT_EQ(with_file("\n\ncount: x\n").error, file + ":3: count: not a whole number: \"x\"");
  EXPECT_EQ(with_file("name: a\nname: b\n").error, file + ":2: name stands twice");
  EXPECT_EQ(with_file("name: {a: b}\n").error, file + ":1: name must be a word or a list of words");
  EXPECT_EQ(with_file("- a\n").error, file + ": not a map of names to values");
  EXPECT_EQ(with_file("word: a\n").error, file + ":1: unknown key \"word\"");
  EXPECT_EQ(with_file("fast: yes\n").error, file + ":1: fast: neither true nor false: \"yes\"");
  EXPECT_NE(with_file("name: [x\n").error.find(file + ":"), std::string::npos);
  EXPECT_NE(parse({"run", "--config=/no/such"}).error.find("/no/such"), std::string::npos);
  const std::string large = "name: a\n" + std::string(2UL << 20, '#');
  EXPECT_NE(with_file(large).error.find("more than 1048576 bytes"), std::string::npos);
}

TEST(Options, AFileThatOthersMayWriteToIsRefused) {
  const test::ScratchDir dir;
  const std::string file = dir.path() / "settings.yaml";
  for (const mode_t mode : {0666U, 0664U, 0646U, 0620U}) {
    ASSERT_TRUE(fs::atomic_write(file, "name: a\n", mode));
    const std::string error = parse({"run", "--config=" + file}).error;
    EXPECT_NE(error.find(": others may write to it; run: chmod go-w " + file), std::string::npos)
        << error;
  }
  ASSERT_TRUE(fs::atomic_write(file, "name: a\n", 0644));
  EXPECT_EQ(parse({"run", "--config=" + file}).error, "");
  std::filesystem::create_symlink(file, dir.path() / "link");
  EXPECT_EQ(parse({"run", "--config=" + (dir.path() / "link").string()}).error, "");
  if (::geteuid() != 0) return;  // only root can change the owner of files
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(parse({"run", "--config=" + file}).error,
            file + " belongs to user 65534; run: chown 0 " + file);
}

TEST(Options, AreSetByName) {
  std::string name = "a";
  bool fast = false;
  std::vector<std::string> list;
  Duration limit{};
  Options options("program", "");
  options.add("name", name, "");
  options.add("fast", fast, "");
  options.add("list", list, "");
  options.add("limit", limit, "");
  options.retire("old", "use --name");
  EXPECT_EQ(options.names(), (std::vector<std::string>{"fast", "limit", "list", "name"}));
  EXPECT_TRUE(options.set("name", {"b"}));
  EXPECT_TRUE(options.set("fast", {"true"}));
  EXPECT_TRUE(options.set("list", {"x,y", "z"}));
  EXPECT_TRUE(options.set("limit", {"1m"}));
  EXPECT_EQ(name, "b");
  EXPECT_TRUE(fast);
  EXPECT_EQ(list, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(limit, std::chrono::minutes(1));
  const Status unknown = options.set("nme", {"b"});
  EXPECT_EQ(unknown.error().code, Errc::not_found);
  EXPECT_EQ(unknown.error().what, "there is no option --nme");
  EXPECT_EQ(options.set("limit", {"1"}).error().what, "not a duration: \"1\"");
  EXPECT_EQ(options.set("name", {}).error().what, "one value expected");
  EXPECT_EQ(options.set("old", {"1"}).error().what, "use --name");
}

TEST(Options, OthersFlagsAreAcceptedAndNamed) {
  const struct {
    std::vector<const char*> words;
    std::vector<std::string> given;
    std::string error;
  } rows[] = {{{}, {}, ""},
              {{"--cidr=10.0.0.0/8", "--fast"}, {"--cidr", "--fast"}, ""},
              {{"--cidr", "10.0.0.0/8", "--fast=false"}, {"--cidr", "--fast"}, ""},
              {{"-v", "4"}, {"--v"}, ""},
              {{"--v=4"}, {"--v"}, ""},
              {{"--cidr=a", "--cidr=b"}, {"--cidr"}, ""},
              {{"--cidr"}, {"--cidr"}, ""},
              {{"--other"}, {}, "--other"}};
  for (const auto& row : rows) {
    std::vector<std::string> given;
    Options options("prog", "tests options");
    options.ignore("cidr", Options::Takes::value, given);
    options.ignore("fast", Options::Takes::nothing, given);
    options.ignore("v", Options::Takes::value, given);
    std::vector<const char*> argv{"prog"};
    argv.insert(argv.end(), row.words.begin(), row.words.end());
    const auto parsed = options.parse(static_cast<int>(argv.size()), argv.data());
    EXPECT_EQ(parsed.has_value(), row.error.empty());
    if (!parsed) {
      EXPECT_NE(parsed.error().what.find(row.error), std::string::npos) << parsed.error().what;
    }
    EXPECT_EQ(given, row.given);
    EXPECT_EQ(options.names(), std::vector<std::string>{}) << "they are not in --help either";
  }
}

}  // namespace
}  // namespace holdfast::config
