// Callers with rights of their own who ask for large lists and do not read them, and an API server
// whose versions go back again and again. Root must still be served, and memory has a limit.

#include <poll.h>

#include <atomic>
#include <cstdlib>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

constexpr int slow_readers = 200;
constexpr std::size_t large_list_bytes = 30UL << 20;

// A list that is larger than the agent reads whole.
std::string list_of_30_mebibytes(const std::string& kind) {
  std::string items;
  for (int number = 0; items.size() < large_list_bytes; ++number) {
    items.append(items.empty() ? "" : ",").append(R"({"metadata":{"name":"n)");
    items.append(std::to_string(number)).append(R"(","namespace":"a","uid":"u",)");
    items.append(R"("resourceVersion":"9"},"spec":{"a":")").append(100'000, 'x').append(R"("}})");
  }
  return R"({"kind":")" + kind + R"(","apiVersion":"v1","metadata":{"resourceVersion":"9",)" +
         R"("continue":"more"},"items":[)" + items + "]}";
}

class SlowReaders : public AttackThroughServer {
 protected:
  // Answers each list of the path with 30 MiB, and counts them.
  void serve_large(const std::string& path, const std::string& kind) {
    serve(path, answer_text(200, list_of_30_mebibytes(kind), "Audit-Id: 1\r\n"));
  }

  void serve(const std::string& path, const std::string& answer) {
    hostile->play([this, path, answer](const std::string& head, const Socket& to) {
      const std::string line = request_line(head);
      if (line.find(path) == std::string::npos) return Then::pass_on;
      if (line.find("watch=") != std::string::npos) {
        (void)to.send(answer_text(500, "{}"));
        return Then::close;
      }
      ++asked;
      (void)to.send(answer, 20s);
      return Then::close;
    });
  }

  // Sends the request on many connections as the user nobody, who may read everything in the
  // cluster, and reads nothing.
  std::unique_ptr<AttackerProcess> hold(Ask request) {
    request.bearer = "bob-token";
    auto attacker = std::make_unique<AttackerProcess>(
        RunAs{.uid = nobody}, [port = edge_port, request](const Say& say) {
          std::vector<Socket> held;
          for (int number = 0; number < slow_readers; ++number) {
            Socket socket = connect_to(port, "127.0.0.1", 1s);
            if (!socket.open()) continue;
            (void)socket.send(text_of(request, port), 1s);
            held.push_back(std::move(socket));
          }
          say(std::to_string(held.size()));
          for (;;) (void)poll(nullptr, 0, 1000);
        });
    const std::string held = attacker->line();
    EXPECT_GE(std::atoi(held.c_str()), slow_readers / 4)
        << "connections are too few for this attack";
    note(held + " connections taken");
    return attacker;
  }

  void expect_all_is_well(const std::string& what) {
    EXPECT_TRUE(eventually(20s, [this] { return asked > 0; })) << "no list was asked for";
    (void)eventually(4s, [this] { return edge->peak() > edge_budget; });
    (void)expect_within(*edge, "holdfast-edge", edge_budget, what);
    expect_root_is_served();
    EXPECT_TRUE(wait_for_link("connected", 5s));
  }

  std::atomic<int> asked = 0;
};

TEST_F(SlowReaders, OfListsThatArePassedOnLeaveRootServed) {
  serve_large("/namespaces/large/configmaps", "ConfigMapList");
  const auto attacker =
      hold({.target = "/api/v1/namespaces/large/configmaps", .user_agent = "kubectl/v1.32"});
  expect_all_is_well("lists that are passed on");
}

// Each of them has half a mebibyte on the wire, and half a gibibyte once it is decompressed.
TEST_F(SlowReaders, OfListsThatExpandLeaveRootServed) {
  const std::string head =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)";
  serve("/namespaces/large/configmaps",
        answer_text(200, packed_list(head, 512UL << 20),
                    "Audit-Id: 1\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"));
  for (const char* accepted : {"Accept-Encoding: gzip", "Accept-Encoding: identity"}) {
    const auto attacker = hold({.target = "/api/v1/namespaces/large/configmaps",
                                .user_agent = "kubectl/v1.32",
                                .headers = {accepted}});
    expect_all_is_well(accepted);
  }
}

// Each request costs several lists, because smaller pages are tried.
TEST_F(SlowReaders, OfFilteredListsThatNeverFitLeaveRootServed) {
  serve_large("/api/v1/services", "ServiceList");
  const auto attacker =
      hold({.target = "/api/v1/services?limit=500", .user_agent = "kube-proxy/v1.32"});
  expect_all_is_well("filtered lists that never fit");
}

class Setbacks : public AttackThroughServer {};

// The versions of its answers to renewals of the lease rise and fall, as if its data were replaced
// by older data all the time.
TEST_F(Setbacks, AllTheTimeCostNoMoreThanTheListsAndLoseNothing) {
  std::atomic<int> renewals = 0;
  hostile->play([&renewals](const std::string& head, const Socket& to) {
    const bool renews = head.starts_with("P") && head.find("/leases/edge-a") != std::string::npos;
    if (!renews) return Then::pass_on;
    const int version = ++renewals % 2 == 0 ? 5 : 1'000'000;
    const std::string lease =
        R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"edge-a",)"
        R"("namespace":"kube-node-lease","uid":"u","resourceVersion":")" +
        std::to_string(version) + R"("},"spec":{"holderIdentity":"edge-a"}})";
    (void)to.send(answer_text(200, lease, "Audit-Id: 1\r\nContent-Type: application/json\r\n"));
    return Then::close;
  });
  EXPECT_TRUE(eventually(60s, [&renewals] { return renewals >= 8; })) << renewals;
  expect_root_is_served();
  EXPECT_TRUE(as_node(treasure_list + "&resourceVersion=0").has(treasure));
  // Two at the start; then the cached list of Secrets is read again with every second renewal.
  const std::size_t lists = performed_as_node("secrets", "list");
  EXPECT_LE(lists, static_cast<std::size_t>(renewals) / 2 + 3);
  EXPECT_GE(lists, 3U);
  (void)expect_within(*edge, "holdfast-edge", edge_budget, "versions that go back");
}

}  // namespace
}  // namespace holdfast::attack
