// Enforces the architecture: which folders may include which, which texts are banned where, how
// long files and lines may be, and what the top level contains.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace {

namespace fs = std::filesystem;

const fs::path root = HOLDFAST_SOURCE_ROOT;

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
    {"<regex>", "agent/lab/rules/pattern.cpp", "platform/text.h"},
    {"steady_clock", "platform/", "a MonoTime handed in by the caller"},
    {"system_clock", "platform/", "Clock::wall()"},
    {"sleep_for", "", "a deadline"},
    {"[&]", "", "name what you capture"},
    {"TODO", "", "an issue"},
    {"FIXME", "", "an issue"},
};

struct SourceFile {
  std::string name;  // relative to the root: "sync/model/types.h"
  std::vector<std::string> lines;

  [[nodiscard]] std::string folder() const { return name.substr(0, name.find('/')); }
};

std::vector<SourceFile> source_files(const std::vector<std::string>& folders,
                                     const fs::path& from = root) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(from / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      SourceFile file{fs::relative(entry.path(), from).generic_string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  return files;
}

const std::vector<std::string> product = {"platform", "store", "sync", "agent"};

// The file that an `#include "..."` line names, or nullopt.
std::optional<std::string> included(const std::string& line) {
  constexpr std::string_view start = "#include \"";
  if (!line.starts_with(start)) return std::nullopt;
  return line.substr(start.size(), line.find('"', start.size()) - start.size());
}

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

// The room of a file: "sync/watch" of "sync/watch/pages.h"; nullopt for a file outside of rooms.
std::optional<std::string> room_of(const std::string& file) {
  const std::size_t folder = file.find('/');
  const std::size_t room = folder == std::string::npos ? folder : file.find('/', folder + 1);
  if (room == std::string::npos) return std::nullopt;
  return file.substr(0, room);
}

// For each room, the rooms that it includes.
std::map<std::string, std::set<std::string>> include_graph() {
  std::map<std::string, std::set<std::string>> graph;
  for (const SourceFile& file : source_files(product)) {
    const auto from = room_of(file.name);
    if (!from) continue;
    for (const std::string& line : file.lines) {
      const auto header = included(line);
      const auto to = header ? room_of(*header) : std::nullopt;
      if (to && *to != *from) graph[*from].insert(*to);
    }
  }
  return graph;
}

// Prints the include graph, and removes repeatedly the rooms that include none of the remaining
// ones. The rooms that remain at the end form a cycle.
TEST(Tidy, NoRoomIncludesItselfThroughOthers) {
  auto graph = include_graph();
  EXPECT_GT(graph.size(), 20U);
  for (const auto& [room, included_rooms] : graph) {
    std::string line = room + " ->";
    for (const std::string& each : included_rooms) line += " " + each;
    std::puts(line.c_str());
  }
  for (bool removed = true; removed;) {
    removed = false;
    for (auto at = graph.begin(); at != graph.end();) {
      const auto is_left = [&graph](const std::string& room) { return graph.contains(room); };
      const bool keeps = std::any_of(at->second.begin(), at->second.end(), is_left);
      removed = removed || !keeps;
      at = keeps ? std::next(at) : graph.erase(at);
    }
  }
  for (const auto& [room, included_rooms] : graph) {
    for (const std::string& each : included_rooms) {
      if (graph.contains(each)) ADD_FAILURE() << "in a cycle: " << room << " -> " << each;
    }
  }
}

// Folders whose rooms are ranked: a room includes only rooms of the ranks before its own. Files
// that lie in the folder itself may include every room, and no room includes them.
const std::map<std::string, std::vector<std::set<std::string>>> ranks = {
    {"sync",
     {{"model"},
      {"wire"},
      {"objects"},
      {"control", "pacing"},
      {"election", "printing", "watch"},
      {"autonomy", "filters", "identity", "lifecycle", "runtime"},
      {"schedule"},
      {"events", "node"}}},
    {"agent", {{"client"}, {"cloud", "edge", "node"}, {"ctl", "lab"}}},
    {"agent/edge",
     {{"options", "route"},
      {"forward"},
      {"cache", "identity"},
      {"filters", "offline"},
      {"admin", "answers", "link"},
      {"door"}}},
};

// The part of `file` below `folder` up to the next slash; "" for a file in the folder itself, and
// nullopt for a file that is not below it.
std::optional<std::string> room_in(const std::string& folder, const std::string& file) {
  if (!file.starts_with(folder + "/")) return std::nullopt;
  const std::string rest = file.substr(folder.size() + 1);
  const std::size_t slash = rest.find('/');
  return slash == std::string::npos ? "" : rest.substr(0, slash);
}

// The place of `room` in `order`, counted from 0; the number of ranks for the folder's own files.
std::size_t rank_of(const std::vector<std::set<std::string>>& order, const std::string& room) {
  if (room.empty()) return order.size();
  const auto has_room = [&room](const std::set<std::string>& rank) { return rank.contains(room); };
  const auto found = std::find_if(order.begin(), order.end(), has_room);
  if (found == order.end()) ADD_FAILURE() << "give this room a rank: " << room;
  return static_cast<std::size_t>(found - order.begin());
}

TEST(Tidy, RoomsIncludeLowerRanksOnly) {
  for (const SourceFile& file : source_files(product)) {
    for (const auto& [folder, order] : ranks) {
      const auto here = room_in(folder, file.name);
      if (!here) continue;
      for (const std::string& line : file.lines) {
        const auto header = included(line);
        const auto there = header ? room_in(folder, *header) : std::nullopt;
        if (!there || *there == *here) continue;
        EXPECT_LT(rank_of(order, *there), rank_of(order, *here)) << file.name << ": " << line;
      }
    }
  }
}

// The model is the vocabulary of all rooms: its names need no qualification in sync.
TEST(Tidy, EachRoomOfSyncHasOneNamespace) {
  for (const SourceFile& file : source_files({"sync"})) {
    const std::string room = room_in("sync", file.name).value();
    const std::string expected =
        "namespace holdfast::sync::" + (room == "model" ? "inline " + room : room);
    int opened = 0;
    for (const std::string& line : file.lines) {
      if (!line.starts_with("namespace holdfast")) continue;
      ++opened;
      const std::string rest = line.starts_with(expected) ? line.substr(expected.size()) : "";
      EXPECT_TRUE(rest.starts_with(" {") || rest.starts_with("::")) << file.name << ": " << line;
    }
    EXPECT_TRUE(opened > 0 || file.name.ends_with(".h")) << file.name;
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
