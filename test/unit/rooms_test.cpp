// Enforces the order of the rooms: which folders may include which, and how many.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "test/unit/source_files.h"

namespace holdfast::tidy {
namespace {

// The room of a file: "sync/watch" of "sync/watch/pages.h"; nullopt for a file outside of rooms.
std::optional<std::string> room_of(const std::string& file) {
  const std::size_t folder = file.find('/');
  const std::size_t room = folder == std::string::npos ? folder : file.find('/', folder + 1);
  if (room == std::string::npos) return std::nullopt;
  return file.substr(0, room);
}

// The room of a file, if it lies in one.
using RoomOf = std::function<std::optional<std::string>(const std::string& file)>;
// For each room, the rooms that it includes.
using Graph = std::map<std::string, std::set<std::string>>;

Graph include_graph(const RoomOf& room_of_file) {
  Graph graph;
  for (const SourceFile& file : source_files(product)) {
    const auto from = room_of_file(file.name);
    if (!from) continue;
    for (const std::string& line : file.lines) {
      const auto header = included(line);
      const auto to = header ? room_of_file(*header) : std::nullopt;
      if (to && *to != *from) graph[*from].insert(*to);
    }
  }
  return graph;
}

void print(const Graph& graph) {
  for (const auto& [room, included_rooms] : graph) {
    std::string line = room + " ->";
    for (const std::string& each : included_rooms) line += " " + each;
    std::puts(line.c_str());
  }
}

// Prints the include graph, and removes repeatedly the rooms that include none of the remaining
// ones. The rooms that remain at the end form a cycle.
TEST(Tidy, NoRoomIncludesItselfThroughOthers) {
  Graph graph = include_graph(room_of);
  EXPECT_GT(graph.size(), 20U);
  print(graph);
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

// Prints the arrows between the rooms of the edge agent. Whoever reads a room must know those that
// it includes.
TEST(Tidy, RoomsOfTheEdgeAgentIncludeFewOthers) {
  const Graph graph = include_graph([](const std::string& file) {
    auto room = room_in("agent/edge", file);
    return room && !room->empty() ? std::move(room) : std::nullopt;
  });
  print(graph);
  std::size_t arrows = 0;
  for (const auto& [room, included_rooms] : graph) arrows += included_rooms.size();
  std::printf("arrows between the rooms of agent/edge: %zu\n", arrows);
  EXPECT_GT(arrows, 10U);
  EXPECT_LE(arrows, 30U);
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

}  // namespace
}  // namespace holdfast::tidy
