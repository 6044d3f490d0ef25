// Enforces the architecture: which folders may include which, which texts are banned where, how
// long files and lines may be, and what the top level contains.

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "test/unit/source_files.h"

namespace holdfast::tidy {
namespace {

const std::set<std::string> top_level = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "agent",
    "cross",          "platform",          "store",   "sync",      "test",
    "build",  // never committed: .gitignore lists it
};

const std::map<std::string, std::set<std::string>> may_include = {
    {"platform", {"platform"}},
    {"store", {"store", "platform", "embedded"}},
    {"sync", {"sync", "platform", "embedded"}},
    {"agent", {"agent", "sync", "store", "platform", "embedded"}},
};

// The value headers: the only headers of platform that pure code may include.
const std::set<std::string> pure_headers = {
    "platform/check.h",  "platform/integers.h", "platform/query.h", "platform/random.h",
    "platform/result.h", "platform/text.h",     "platform/time.h",  "platform/token_bucket.h",
};

struct Ban {
  std::string text;
  std::string allowed_under;  // a path prefix; empty: allowed nowhere
  std::string instead;
};

const std::vector<Ban> bans = {
    {"<boost/beast", "platform/", "platform/http/message.h"},
    {"<sqlite3.h>", "store/sqlite.cpp", "store/sqlite.h"},
    {"<spdlog/", "platform/log.cpp", "platform/log.h"},
    {"<openssl/", "platform/tls/", "platform/tls/"},
    {"<nghttp2/", "platform/http/h2/engine", "platform/http/h2/engine.h"},
    {"<google/protobuf", "sync/wire/protobuf/", "sync/wire/protobuf/decode.h"},
    {".pb.h", "sync/wire/protobuf/", "sync/wire/protobuf/decode.h"},
    {"<thread>", "platform/loop/thread", "the loop, or platform/loop/workers.h"},
    {"co_spawn", "platform/loop/", "loop::Tasks"},
    {"<regex>", "agent/lab/rules/pattern.cpp", "platform/text.h"},
    {"steady_clock", "platform/", "a MonoTime handed in by the caller"},
    {"system_clock", "platform/", "Clock::wall()"},
    {"sleep_for", "", "a deadline"},
    {"[&]", "", "name what you capture"},
    {"TODO", "", "an issue"},
    {"FIXME", "", "an issue"},
};

TEST(Tidy, NothingNewAtTheTopLevel) {
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.starts_with('.') || top_level.contains(name)) << name;
  }
}

// Rules without I/O: those of the product, of the lab's API server and of its fault proxy.
bool is_pure(const std::string& file) {
  return file.starts_with("sync/") || file.starts_with("agent/lab/rules/") ||
         file.starts_with("agent/lab/loops/") || file.starts_with("agent/lab/faults/toxic");
}

TEST(Tidy, IncludesCrossNoForbiddenBorder) {
  for (const SourceFile& file : source_files(product)) {
    const auto& allowed = may_include.at(file.folder());
    for (const std::string& line : file.lines) {
      const auto header = included(line);
      if (!header) continue;
      const std::string there = header->substr(0, header->find('/'));
      EXPECT_TRUE(allowed.contains(there)) << file.name << ": " << line;
      const bool pure = !is_pure(file.name) || there != "platform";
      EXPECT_TRUE(pure || pure_headers.contains(*header)) << file.name << ": " << line;
    }
  }
}

// Rules get time, random numbers and the contents of files from their callers.
TEST(Tidy, RulesIncludeNothingOfTheSystem) {
  constexpr std::string_view start = "#include <";
  for (const SourceFile& file : source_files(product)) {
    for (const std::string& line : file.lines) {
      if (!is_pure(file.name) || !line.starts_with(start)) continue;
      for (const char* header :
           {"atomic>", "boost/asio", "condition_variable>", "cstdlib>", "ctime>", "fcntl.h>",
            "filesystem>", "fstream>", "iostream>", "mutex>", "random>", "sys/", "unistd.h>"}) {
        EXPECT_FALSE(line.substr(start.size()).starts_with(header)) << file.name << ": " << line;
      }
    }
  }
}

TEST(Tidy, BannedTextStaysInItsPlace) {
  for (const SourceFile& file : source_files(product)) {
    for (std::size_t number = 0; number < file.lines.size(); ++number) {
      for (const Ban& ban : bans) {
        const bool allowed = !ban.allowed_under.empty() && file.name.starts_with(ban.allowed_under);
        EXPECT_TRUE(allowed || file.lines[number].find(ban.text) == std::string::npos)
            << file.name << ":" << number + 1 << ": use " << ban.instead;
      }
    }
  }
}

TEST(Tidy, BeastLivesInFewFiles) {
  std::set<std::string> users;
  for (const SourceFile& file : source_files(product)) {
    for (const std::string& line : file.lines) {
      if (line.find("<boost/beast") != std::string::npos) users.insert(file.name);
    }
  }
  users.erase("platform/boost_src.cpp");
  EXPECT_LE(users.size(), 2u);
}

// Everything else is given a clock. The log limits its rate before main() has set anything up.
TEST(Tidy, OnlyProgramsAndTheLogReadTheSystemsClock) {
  for (const SourceFile& file : source_files(product)) {
    const bool may = file.name.starts_with("platform/time.") || file.name == "platform/log.cpp" ||
                     file.name.ends_with("/main.cpp");
    for (std::size_t number = 0; !may && number < file.lines.size(); ++number) {
      EXPECT_EQ(file.lines[number].find("SystemClock"), std::string::npos)
          << file.name << ":" << number + 1 << ": use the Clock that it is given";
    }
  }
}

// A run in virtual time repeats exactly. Commands draw the seed of a run, which they print.
TEST(Tidy, OnlyTheLoopAndCommandsDrawFromEntropy) {
  const std::set<std::string> commands = {"agent/lab/faults/proxy_command.cpp",
                                          "agent/lab/guest/guest.cpp",
                                          "agent/lab/sim/commands.cpp"};
  for (const SourceFile& file : source_files({"store", "sync", "agent"})) {
    for (std::size_t number = 0; number < file.lines.size(); ++number) {
      EXPECT_TRUE(commands.contains(file.name) ||
                  file.lines[number].find("from_entropy") == std::string::npos)
          << file.name << ":" << number + 1 << ": use loop::make_random()";
    }
  }
}

// Unit tests are functions of their inputs; what needs the real system is in test/system.
TEST(Tidy, UnitTestsUseNeitherRealTimeNorProcesses) {
  for (const SourceFile& file : source_files({"test"})) {
    if (!file.name.starts_with("test/unit/") || file.name == "test/unit/tidy_test.cpp") continue;
    for (std::size_t number = 0; number < file.lines.size(); ++number) {
      for (const char* banned : {"support/system_loop.h", "support/real_time.h", "fork()", "execv",
                                 "posix_spawn", "std::thread", "sleep_for", "from_entropy"}) {
        EXPECT_EQ(file.lines[number].find(banned), std::string::npos)
            << file.name << ":" << number + 1 << ": move the test to test/system";
      }
    }
  }
}

// They wait for events, with limits.
TEST(Tidy, SystemTestsWaitForNoDuration) {
  for (const SourceFile& file : source_files({"test"})) {
    if (!file.name.starts_with("test/system/")) continue;
    for (std::size_t number = 0; number < file.lines.size(); ++number) {
      for (const char* banned : {"sleep_for", "sleep_until", "usleep", "nanosleep"}) {
        EXPECT_EQ(file.lines[number].find(banned), std::string::npos)
            << file.name << ":" << number + 1 << ": wait for an event";
      }
    }
  }
}

TEST(Tidy, FilesAndLinesAreShort) {
  auto folders = product;
  folders.push_back("test");
  for (const SourceFile& file : source_files(folders)) {
    EXPECT_LE(file.lines.size(), 400u) << file.name << " has more than 400 lines";
    for (std::size_t number = 0; number < file.lines.size(); ++number) {
      EXPECT_LE(file.lines[number].size(), 100u) << file.name << ":" << number + 1;
    }
  }
}

// Except tables, whose rows cannot be broken, and examples.
TEST(Tidy, LinesOfReadmesAreShort) {
  std::vector<fs::path> readmes = {root / "README.md"};
  for (const std::string folder : {"platform", "store", "sync", "agent", "cross", "test"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().filename() == "README.md") readmes.push_back(entry.path());
    }
  }
  for (const fs::path& readme : readmes) {
    std::ifstream in(readme);
    bool is_example = false;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.starts_with("```")) is_example = !is_example;
      if (is_example || line.starts_with('|') || line.starts_with("    ")) continue;
      EXPECT_LE(line.size(), 120u) << readme << ":" << number;
    }
  }
}

TEST(Tidy, HeadersOpenWithWhatTheyAreFor) {
  for (const SourceFile& file : source_files(product)) {
    if (!file.name.ends_with(".h")) continue;
    ASSERT_FALSE(file.lines.empty()) << file.name;
    EXPECT_TRUE(file.lines.front().starts_with("// ")) << file.name;
  }
}

TEST(Tidy, EveryFolderSaysWhatItIs) {
  for (const std::string folder : {"platform", "store", "sync", "agent", "cross", "test"}) {
    EXPECT_TRUE(fs::exists(root / folder / "README.md")) << folder;
  }
}

// What is awaited from position `at` on, up to the end of the statement.
std::string_view awaited(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth < 0 || (depth == 0 && c == ';')) return text.substr(at, i - at);
  }
  return text.substr(at);
}

// GCC 12 copies such a temporary object into the coroutine's frame byte by byte and destroys it
// twice, so that a short string in it frees memory that was never allocated.
TEST(Tidy, NoAggregateIsMadeInACoAwait) {
  std::vector<std::string> folders = product;
  folders.emplace_back("test");
  for (const SourceFile& file : source_files(folders)) {
    if (file.name == "test/unit/tidy_test.cpp") continue;
    std::string text;
    for (const std::string& line : file.lines) text += line + "\n";
    std::size_t at = text.find("co_await ");
    for (; at != std::string::npos; at = text.find("co_await ", at + 1)) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
      EXPECT_EQ(awaited(text, at).find("{."), std::string_view::npos)
          << file.name << ":" << line << ": give the object a name before the co_await";
    }
  }
}

// Two types with the same name in one namespace violate the one-definition rule: they link without
// a warning and crash.
TEST(Tidy, ATypesNameIsItsOwn) {
  std::map<std::string, std::string> homes;
  std::vector<SourceFile> files = source_files(product);
  // The structs that are generated from sync/model/tables.
  const fs::path build = fs::path(HOLDFAST_BIN_DIR).parent_path();
  for (SourceFile& file : source_files({"sync"}, build / "model")) files.push_back(std::move(file));
  for (const SourceFile& file : files) {
    if (!file.name.ends_with(".h")) continue;
    std::string space;
    for (const std::string& line : file.lines) {
      if (line.starts_with("namespace ")) space = line.substr(10);
      const bool listed = line.starts_with("enum class ");
      const bool type = listed || line.starts_with("struct ") || line.starts_with("class ");
      if (!type || line.find('{') == std::string::npos) continue;
      const std::size_t from = line.find(' ', listed ? 5 : 0) + 1;
      const std::string name = space + line.substr(from, line.find(' ', from) - from);
      const auto [home, is_new] = homes.emplace(name, file.name);
      EXPECT_TRUE(is_new) << name << ": " << file.name << " and " << home->second;
    }
  }
  EXPECT_GT(homes.size(), 200U);
}

}  // namespace
}  // namespace holdfast::tidy
