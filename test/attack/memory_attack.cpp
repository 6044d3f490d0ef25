// Messages without an end, sent before the caller is authenticated.

#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <thread>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

constexpr std::size_t flood_bytes = 192UL << 20;  // three times the budget of the edge
constexpr Duration flood_time = 4s;

struct Flood {
  const char* name;
  std::string begin;  // after the request or status line
  std::string piece;  // sent again and again
};

const std::string quarter(16 * 1024, 'a');
const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";

// The parts of a message that can be endless, in both directions.
const Flood floods[] = {
    {"chunk extension", chunked + "1;", quarter},
    {"chunk extensions", chunked, "1;" + std::string(1000, 'e') + "\r\na\r\n"},
    {"chunk size", chunked, std::string(16 * 1024, '0')},
    {"trailer", chunked + "0\r\nX: ", quarter},
    {"trailers", chunked + "0\r\n", "X-A: " + std::string(1000, 'b') + "\r\n"},
    {"header", "X: ", quarter},
    {"headers", "", "X-A: " + std::string(1000, 'b') + "\r\n"},
};

// Sends until the peer closes the connection or the time is over. Returns the MiB that were taken.
std::string flood(const Socket& socket, const std::string& begin, const std::string& piece) {
  const auto until = Clock::now() + flood_time;
  std::string many;
  while (many.size() < (256UL << 10)) many += piece;
  std::size_t sent = socket.send(begin, 1s);
  while (sent < flood_bytes && Clock::now() < until) {
    const std::size_t taken = socket.send(many, 1s);
    if (taken == 0) break;
    sent += taken;
  }
  return std::to_string(sent >> 20);
}

class Memory : public Attack {
 protected:
  // Sends every kind of endless request to the port, as the user nobody.
  void flood_as_nobody(std::uint16_t port, Program& victim, const std::string& name, long budget) {
    for (const Flood& one : floods) {
      for (const std::string credentials : {"", "Authorization: Bearer invented\r\n"}) {
        const std::string begin = "POST " + events_path +
                                  " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" +
                                  credentials + one.begin;
        const std::string taken = run_as_nobody(
            [port, &begin, &one] { return flood(connect_to(port), begin, one.piece); });
        ASSERT_NE(taken.find_first_of("0123456789"), std::string::npos)
            << one.name << " was not sent: " << taken;
        EXPECT_TRUE(victim.running()) << one.name;
        if (!expect_within(victim, name, budget, one.name + (" after MiB: " + taken))) return;
      }
    }
  }
};

TEST_F(Memory, EndlessRequestsToTheProxyAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  flood_as_nobody(edge_port, *edge, "holdfast-edge", edge_budget);
  expect_root_is_served();
}

TEST_F(Memory, EndlessRequestsToTheAdminListenerAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  flood_as_nobody(admin_port, *edge, "holdfast-edge", edge_budget);
  expect_root_is_served();
}

TEST_F(Memory, EndlessRequestsToTheCloudAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  ASSERT_NO_FATAL_FAILURE(start_cloud());
  flood_as_nobody(cloud_port, *cloud, "holdfast-cloud", cloud_budget);
  EXPECT_EQ(ask(cloud_port, {.target = "/healthz"}).status, 200);
}

// Opens connections that each send nearly all of a large body and then wait.
void hold_bodies(std::uint16_t port, const std::string& credentials, const Say& say) {
  constexpr std::size_t body = 3'000'000;
  const std::string head = "POST " + events_path +
                           " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                           "\r\nContent-Type: application/json\r\n" + credentials +
                           "Content-Length: " + std::to_string(body) + "\r\n\r\n";
  std::vector<Socket> held;
  for (int i = 0; i < 400; ++i) {
    Socket socket = connect_to(port, "127.0.0.1", 1s);
    if (!socket.open()) continue;
    (void)socket.send(head, 1s);
    held.push_back(std::move(socket));
  }
  const std::string piece(64UL << 10, ' ');
  std::vector<std::size_t> sent(held.size(), 0);
  const auto until = Clock::now() + 2s;
  for (bool more = true; more && Clock::now() < until;) {
    more = false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (sent[i] + piece.size() >= body) continue;
      const std::size_t taken = held[i].send(piece, 0ms);
      sent[i] += taken;
      more = more || taken > 0;
    }
    if (!more) (void)poll(nullptr, 0, 20);
    more = true;
  }
  say("held");
  for (;;) (void)poll(nullptr, 0, 1000);
}

TEST_F(Memory, LargeBodiesOnManyConnectionsAreBounded) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  for (const std::uint16_t port : {edge_port, admin_port}) {
    for (const std::string credentials : {"", "Authorization: Bearer invented\r\n"}) {
      AttackerProcess attacker({.uid = nobody}, [port, &credentials](const Say& say) {
        hold_bodies(port, credentials, say);
      });
      EXPECT_EQ(attacker.line(), "held");
      expect_root_is_served();
      const std::string what = credentials + (port == edge_port ? "proxy" : "admin");
      if (!expect_within(*edge, "holdfast-edge", edge_budget, what)) return;
    }
  }
}

// The reverse direction: endless answers of an API server controlled by an attacker.
class HostileAnswers : public Memory {
 protected:
  static std::vector<Flood> answers() {
    std::vector<Flood> all(std::begin(floods), std::end(floods));
    all.push_back({"1xx answers", "X: y\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"});
    all.push_back({"early hints", "X: y\r\n\r\n",
                   "HTTP/1.1 103 Early Hints\r\nLink: " + std::string(1000, 'l') + "\r\n\r\n"});
    all.push_back({"body without an end", "Content-Type: application/json\r\n\r\n", quarter});
    all.push_back({"body of many chunks", chunked, "4000\r\n" + quarter + "\r\n"});
    return all;
  }

  // Answers every request whose line contains `where` with `one`.
  static HostileServer::Script script(const std::string& where, const Flood& one) {
    return [where, one](const std::string& head, const Socket& to) {
      if (request_line(head).find(where) == std::string::npos) return Then::pass_on;
      const std::string_view name = one.name;
      const bool interim = name == "1xx answers" || name == "early hints";
      const std::string line =
          interim ? "HTTP/1.1 103 Early Hints\r\n" : "HTTP/1.1 200 OK\r\nAudit-Id: 1\r\n";
      (void)flood(to, line + one.begin, one.piece);
      return Then::close;
    };
  }
};

TEST_F(HostileAnswers, EndlessAnswersToTheEdgeAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge({"--write-deadline=4s"}));
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  for (const Flood& one : answers()) {
    server.play(script("/flooded", one));
    const std::string target = "/api/v1/namespaces/flooded/configmaps/c";
    const Answer answer =
        ask(edge_port, {.target = target, .user_agent = "kubectl/v1.32", .limit = 6s});
    EXPECT_TRUE(edge->running()) << one.name;
    EXPECT_FALSE(answer.served() && answer.whole) << one.name;
    if (!expect_within(*edge, "holdfast-edge", edge_budget, one.name)) break;
  }
  expect_root_is_served();
}

std::string chunk(const std::string& bytes) {
  char size[32];
  (void)std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

TEST_F(HostileAnswers, EndlessListsAndWatchesToTheEdgeAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  const Flood list{
      "list without an end",
      "Content-Type: application/json\r\n" + chunked +
          chunk(R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[)"),
      chunk(std::string(16 * 1024, ' '))};
  const Flood frame{"watch frame without an end", "Content-Type: application/json\r\n" + chunked,
                    "4000\r\n" + std::string(16 * 1024, ' ') + "\r\n"};
  server.play(script("/namespaces/flooded/configmaps", list));
  (void)ask(edge_port,
            {.target = "/api/v1/namespaces/flooded/configmaps?resourceVersion=0", .limit = 5s});
  if (!expect_within(*edge, "holdfast-edge", edge_budget, list.name)) return;
  server.play(script("watch=", frame));
  server.cut();
  server.mend();
  const auto flooded = [&server] {
    for (const std::string& bytes : server.received()) {
      if (bytes.find("watch=") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(eventually(10s, flooded));
  (void)eventually(3s, [this] { return edge->peak() > edge_budget; });
  if (!expect_within(*edge, "holdfast-edge", edge_budget, frame.name)) return;
  EXPECT_TRUE(edge->running());
}

// A list of large objects, slightly smaller than the largest that the agent accepts.
std::string large_list(char filling) {
  std::string items;
  for (int number = 0; items.size() < (7UL << 20); ++number) {
    items.append(items.empty() ? "" : ",").append(R"({"metadata":{"name":"n)");
    items.append(std::to_string(number)).append(R"(","namespace":"a","uid":"u",)");
    items.append(R"("resourceVersion":"9"},"data":{"a":")")
        .append(100'000, filling)
        .append(R"("}})");
  }
  return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
         R"("items":[)" +
         items + "]}";
}

// Reads an answer and discards it.
void read_away(const Socket& socket, Duration limit) {
  const auto until = Clock::now() + limit;
  while (Clock::now() < until && !socket.receive(1s).empty()) {
  }
}

// Answers each list of a namespace called "large..." with a list of that size.
HostileServer::Script large_lists(char filling) {
  return [list = large_list(filling)](const std::string& head, const Socket& to) {
    const std::string line = request_line(head);
    if (line.find("/namespaces/large") == std::string::npos) return Then::pass_on;
    const bool watch = line.find("watch=") != std::string::npos;
    (void)to.send(answer_text(watch ? 500 : 200, watch ? "{}" : list, "Audit-Id: 1\r\n"));
    return Then::close;
  };
}

// Many lists of that size, and local clients that request them and never read the answers.
TEST_F(HostileAnswers, ListsThatJustFitFillTheCacheAndNotTheMachine) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  server.play(large_lists('x'));
  std::vector<Socket> lazy;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> readers;
    for (int number = 0; number < 8; ++number) {
      const Ask one{.target = "/api/v1/namespaces/large" + std::to_string(number) +
                              "/configmaps?resourceVersion=0",
                    .limit = 4s};
      readers.emplace_back([this, one] {
        const Socket socket = connect_to(edge_port);
        (void)socket.send(text_of(one, edge_port));
        read_away(socket, one.limit);
      });
      lazy.push_back(connect_to(edge_port));
      (void)lazy.back().send(text_of(one, edge_port));
    }
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_TRUE(edge->running());
  (void)expect_within(*edge, "holdfast-edge", edge_budget, "lists that just fit");
  lazy.clear();
  expect_root_is_served();
}

// A page that is not the last one leaves a snapshot of its list behind, which still exists when the
// cloud is back and sends other lists.
TEST_F(HostileAnswers, SnapshotsOfListsReadInPagesAreBounded) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  const auto path_of = [](int number) {
    return "/api/v1/namespaces/large" + std::to_string(number) + "/configmaps";
  };
  // Until a list is in the cache, the cloud answers for it.
  const auto is_cached = [this](const std::string& path) {
    const std::string scopes = ask(admin_port, {.target = "/v1/scopes"}).body;
    const std::size_t scope = scopes.find("\"" + path + "\"");
    const std::size_t end = scopes.find("\"path\"", scope);
    return scope < end && scopes.substr(scope, end - scope).find(R"("complete":true)") < end;
  };
  const auto shows = [this, &path_of, &is_cached](char filling) {
    int shown = 0;
    for (int number = 0; number < 3; ++number) {
      const std::string path = path_of(number);
      const Answer list = ask(edge_port, {.target = path + "?resourceVersion=0", .limit = 4s});
      shown += is_cached(path) && list.has(std::string(100, filling)) ? 1 : 0;
    }
    return shown == 3;
  };
  server.play(large_lists('x'));
  EXPECT_TRUE(eventually(60s, [&shows] { return shows('x'); }));
  server.cut();
  EXPECT_TRUE(wait_for_link("offline", 20s));
  for (int number = 0; number < 3; ++number) {
    const Answer page = ask(edge_port, {.target = path_of(number) + "?limit=1"});
    EXPECT_TRUE(page.has("\"continue\":")) << page.head << page.body.substr(0, 300);
  }
  server.play(large_lists('y'));
  server.mend();
  EXPECT_TRUE(wait_for_link("connected", 30s));
  EXPECT_TRUE(eventually(60s, [&shows] { return shows('y'); }));
  (void)expect_within(*edge, "holdfast-edge", edge_budget, "lists read in pages");
  expect_root_is_served();
}

TEST_F(HostileAnswers, EndlessAnswersToTheCloudAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  // With leader election the process would end when it cannot renew its lease, as it should.
  ASSERT_NO_FATAL_FAILURE(start_cloud({"--leader-elect=false"}));
  for (const Flood& one : answers()) {
    const std::size_t before = server.received().size();
    server.play(script("/", one));
    server.cut();
    server.mend();
    EXPECT_TRUE(eventually(10s, [&server, before] { return server.received().size() > before; }));
    (void)eventually(1s, [this] { return cloud->peak() > cloud_budget; });
    EXPECT_TRUE(cloud->running()) << one.name;
    if (!expect_within(*cloud, "holdfast-cloud", cloud_budget, one.name)) break;
  }
  EXPECT_NE(ask(cloud_port, {.target = "/livez"}).status, 0);
}

}  // namespace
}  // namespace holdfast::attack
