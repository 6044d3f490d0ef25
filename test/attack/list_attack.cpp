// Lists and watches of an API server controlled by an attacker: the memory use of its clients.

#include <poll.h>

#include <atomic>
#include <cstdio>
#include <functional>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

constexpr std::size_t mebibyte = 1UL << 20;

std::string repeated(const std::string& piece, std::size_t bytes) {
  std::string text = piece;
  while (text.size() < bytes) text += "," + piece;
  return text;
}

std::string list_of(const std::string& items, bool more) {
  return std::string(R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9")") +
         (more ? R"(,"continue":"more")" : "") + R"(},"items":[)" + items + "]}";
}

std::string object(long number, const std::string& more) {
  const std::string n = std::to_string(number);
  return R"({"metadata":{"name":"n)" + n + R"(","namespace":"a","uid":"u)" + n +
         R"(","resourceVersion":"9"})" + more + "}";
}

// The next `count` objects, all of them new.
std::string new_objects(std::atomic<long>& last, int count, const std::string& more) {
  std::string items;
  for (int i = 0; i < count; ++i) items += (i == 0 ? "" : ",") + object(++last, more);
  return items;
}

struct Hostile {
  const char* name;
  std::function<std::string(std::atomic<long>& last)> list;
  bool events = false;  // after the list, endless watch events with new objects
};

const Hostile hostile_lists[] = {
    {"pages without end, of new objects",
     [](auto& last) {
       return list_of(new_objects(last, 20'000, R"(,"spec":{"nodeName":"edge-a"})"), true);
     }},
    {"pages without end, of empty objects",
     [](auto&) { return list_of(repeated("{}", 3 * mebibyte), true); }},
    {"pages without end, of nothing", [](auto&) { return list_of("", true); }},
    {"a list of millions of empty objects",
     [](auto&) { return list_of(repeated("{}", 15 * mebibyte), false); }},
    {"lists of 30 MiB",
     [](auto& last) {
       const std::string data = R"(,"data":{"a":")" + std::string(30 * mebibyte, 'x') + "\"}";
       return list_of(object(++last, data), false);
     }},
    {"objects with millions of empty values",
     [](auto& last) {
       const std::string zeros = R"(,"data":[)" + repeated("0", 2 * mebibyte) + "]";
       const std::string structs = R"(,"spec":{"containers":[)" + repeated("{}", mebibyte) +
                                   R"(],"tolerations":[)" + repeated("{}", mebibyte) +
                                   R"(],"taints":[)" + repeated("{}", mebibyte) + "]}";
       return list_of(object(++last, zeros) + "," + object(++last, structs), true);
     }},
    {"events without end, of new objects", [](auto&) { return list_of("", false); }, true},
};

void send_events(const Socket& to, std::atomic<long>& last) {
  (void)to.send(
      "HTTP/1.1 200 OK\r\nAudit-Id: 1\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  const auto until = Clock::now() + 6s;
  while (Clock::now() < until) {
    std::string events;
    for (int i = 0; i < 500; ++i) {
      events += R"({"type":"ADDED","object":)" +
                object(++last, R"(,"spec":{"nodeName":"edge-a"})") + "}\n";
    }
    char size[32];
    (void)std::snprintf(size, sizeof size, "%zx\r\n", events.size());
    const std::string chunk = size + events + "\r\n";
    if (to.send(chunk, 1s) != chunk.size()) return;
  }
}

class HostileLists : public Attack {
 protected:
  // Answers every list and watch whose request line contains one of `where`.
  HostileServer::Script script(const Hostile& one, std::vector<std::string> where) {
    return [this, &one, where = std::move(where)](const std::string& head, const Socket& to) {
      const std::string line = request_line(head);
      const auto has = [&line](const std::string& part) { return line.find(part) != line.npos; };
      if (!line.starts_with("GET ") || std::none_of(where.begin(), where.end(), has)) {
        return Then::pass_on;
      }
      if (has("watch=") && one.events) {
        send_events(to, last_);
        return Then::close;
      }
      ++answered_;
      const bool watch = has("watch=");
      (void)to.send(answer_text(watch ? 500 : 200, watch ? "{}" : one.list(last_)), 10s);
      return Then::keep;
    };
  }

  // Runs until enough lists were answered, and a few seconds longer.
  void expect_survival(Program& victim, const std::string& name, long budget, const Hostile& one) {
    const auto over = [&victim, budget] { return victim.peak() > budget; };
    EXPECT_TRUE(eventually(15s, [this] { return answered_ >= 3; })) << one.name;
    (void)eventually(5s, over);
    EXPECT_TRUE(victim.running()) << one.name;
    std::printf("%s: %ld answers, peak of %ld MiB\n", one.name, answered_.load(),
                victim.peak() / 1024);
    (void)expect_within(victim, name, budget, one.name);
  }

  std::atomic<long> last_ = 0;      // the number of the newest object
  std::atomic<long> answered_ = 0;  // lists
};

TEST_F(HostileLists, TheCloudKeepsItsBudget) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  for (const Hostile& one : hostile_lists) {
    cloud.reset();
    answered_ = 0;
    server.play({});
    ASSERT_NO_FATAL_FAILURE(start_cloud({"--leader-elect=false", "--controllers=*,scheduler"}));
    server.play(script(one, {"/api/v1/nodes", "/api/v1/pods", "/leases", "/namespaces?",
                             "/poddisruptionbudgets"}));
    server.cut();
    server.mend();
    expect_survival(*cloud, "holdfast-cloud", cloud_budget, one);
    EXPECT_NE(ask(cloud_port, {.target = "/livez"}).status, 0) << one.name;
  }
}

TEST_F(HostileLists, TheEdgeKeepsItsBudget) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  int round = 0;
  for (const Hostile& one : hostile_lists) {
    answered_ = 0;
    const std::string space = "/namespaces/flooded" + std::to_string(++round) + "-";
    server.play(script(one, {space}));
    std::vector<Socket> readers;
    for (int i = 0; i < 8; ++i) {
      readers.push_back(connect_to(edge_port));
      const std::string target = "/api/v1" + space + std::to_string(i) + "/configmaps";
      (void)readers.back().send(text_of({.target = target + "?resourceVersion=0"}, edge_port));
    }
    expect_survival(*edge, "holdfast-edge", edge_budget, one);
  }
  // It does not keep what it needed.
  const auto is_small = [this] { return edge->resident() < edge_budget / 2; };
  EXPECT_TRUE(sanitized() || eventually(10s, is_small)) << edge->resident() << " KiB";
  expect_root_is_served();
}

}  // namespace
}  // namespace holdfast::attack
