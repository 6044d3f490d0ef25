// Requests with invented credentials must not count as signs of a running kubelet, no client may
// have the lease written as often as it likes, and no answer to its renewal harms the agent.

#include <poll.h>

#include <atomic>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

const std::string leases_path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const std::string lease_body =
    R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"edge-a",)"
    R"("namespace":"kube-node-lease"},"spec":{"holderIdentity":"edge-a",)"
    R"("leaseDurationSeconds":40}})";
const std::string status_body = R"({"status":{"phase":"Running"}})";

// Every request by which a kubelet shows that it is alive.
std::vector<Ask> signs_of_life(const std::string& bearer) {
  std::vector<Ask> all = {
      {.target = leases_path + "/edge-a", .method = "PUT", .body = lease_body},
      {.target = leases_path + "/edge-a", .method = "PATCH", .body = R"({"spec":{}})"},
      {.target = leases_path, .method = "POST", .body = lease_body},
      {.target = "/api/v1/nodes/edge-a/status", .method = "PATCH", .body = status_body},
      {.target = "/api/v1/nodes/edge-a/status", .method = "PUT", .body = status_body},
      {.target = "/api/v1/nodes/edge-a", .method = "PATCH", .body = status_body},
  };
  for (Ask& one : all) one.bearer = bearer;
  for (Ask& one : all) one.limit = 2s;
  return all;
}

// Sends them repeatedly. Reports the first request that was granted, or "refused" if none was in
// the first round.
void imitate_kubelet(std::uint16_t port, const std::string& bearer, const Say& say) {
  bool said = false;
  for (;;) {
    for (const Ask& one : signs_of_life(bearer)) {
      const Answer answer = ask(port, one);
      if (!answer.served() || said) continue;
      say(one.method + " " + one.target + " " + std::to_string(answer.status));
      said = true;
    }
    if (!said) say("refused");
    said = true;
    (void)poll(nullptr, 0, 50);
  }
}

class Lease : public Attack {
 protected:
  [[nodiscard]] bool becomes_inactive() const {
    return eventually(6s, [this] {
      return metrics().find("\nholdfast_edge_kubelet_inactive 1") != std::string::npos;
    });
  }
};

TEST_F(Lease, InventedCredentialsDoNotKeepADeadKubeletAlive) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  for (const std::string token : {"", "invented", "alice-token", "bob-token"}) {
    ASSERT_NO_FATAL_FAILURE(start_edge({"--kubelet-grace=1s"}));
    const std::uint16_t port = edge_port;
    AttackerProcess attacker({.uid = nobody},
                             [port, &token](const Say& say) { imitate_kubelet(port, token, say); });
    const std::string said = attacker.line();
    EXPECT_TRUE(token == "bob-token" || said == "refused") << "\"" << token << "\": " << said;
    EXPECT_TRUE(becomes_inactive()) << "the agent still renews the lease for \"" << token << "\"";
  }
}

TEST_F(Lease, TheNodesOwnKubeletCounts) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  ASSERT_NO_FATAL_FAILURE(start_edge({"--kubelet-grace=1s"}));
  ASSERT_TRUE(becomes_inactive());
  EXPECT_TRUE(ask(edge_port, signs_of_life("")[0]).served());
  EXPECT_NE(metrics().find("\nholdfast_edge_kubelet_inactive 0"), std::string::npos);
}

constexpr auto probe_deadline = 500ms;  // as in quick_agent_flags()

class Probes : public AttackThroughServer {};

// A web page where a document could be says nothing about the link, so a probe asks, which writes
// the lease.
TEST_F(Probes, OfAClientThatCausesDoubtAllTheTimeAreLimited) {
  std::atomic<int> pages = 0;
  std::atomic<int> renewals = 0;
  hostile->play([&pages, &renewals](const std::string& head, const Socket& to) {
    if (head.starts_with("P") && head.find("/leases/edge-a") != std::string::npos) ++renewals;
    if (!head.starts_with("GET /logs/")) return Then::pass_on;
    ++pages;
    const std::string page = "<html>logs</html>";
    (void)to.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " +
                  std::to_string(page.size()) + "\r\n\r\n" + page);
    return Then::keep;
  });
  AttackerProcess attacker({.uid = nobody}, [port = edge_port](const Say& say) {
    for (bool said = false;;) {
      const Answer answer = ask(port, {.target = "/logs/", .bearer = "bob-token", .limit = 2s});
      if (!said) say(std::to_string(answer.status));
      said = true;
    }
  });
  EXPECT_EQ(attacker.line(), "503");
  const auto began = std::chrono::steady_clock::now();
  const auto probes_allowed = [began] {
    return (std::chrono::steady_clock::now() - began) / probe_deadline + 2;
  };
  renewals = 0;
  pages = 0;
  EXPECT_TRUE(eventually(
      60s,
      [&pages, probes_allowed] { return probes_allowed() > 12 && pages > 10 * probes_allowed(); }))
      << pages << " pages are too few for this attack";
  EXPECT_LE(renewals, probes_allowed()) << "for " << pages << " pages";
  EXPECT_TRUE(wait_for_link("connected", 1s));
  expect_root_is_served();
}

// The beginning of every message in protobuf, and the field of runtime.Unknown that holds the
// object.
const std::string protobuf_magic("k8s\0", 4);
constexpr char raw_field = '\x12';

std::string field(char tag, const std::string& bytes) {
  return std::string{tag, static_cast<char>(bytes.size())} + bytes;  // of at most 127 bytes
}

// A Lease of which only the resourceVersion is there.
std::string lease_of_version(const std::string& version) {
  return protobuf_magic + field(raw_field, field('\x0a', field('\x32', version)));
}

std::string nested(int levels) {
  std::string all = protobuf_magic;
  for (int i = 0; i < levels; ++i) all += {raw_field, '\x7f'};
  return all;
}

struct LeaseAnswer {
  const char* name;
  std::string body;
  bool drips = false;    // one byte each half second
  bool connects = true;  // the link is connected while all renewals are answered so
};

const LeaseAnswer lease_answers[] = {
    {"of 9 MiB", protobuf_magic + raw_field + "\xff\xff\xff\x7f" + std::string(9UL << 20, 'A')},
    {"of 2^64 bytes, it says",
     protobuf_magic + raw_field + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + "abc"},
    {"nested 4,000 times", nested(4000)},
    {"whose version is a path", lease_of_version("../../")},
    {"whose version is the last one", lease_of_version("9223372036854775807")},
    {"that is empty", ""},
    {"that drips", std::string(400, 'k'), true, false},
};

class LeaseAnswers : public AttackThroughServer {
 protected:
  HostileServer::Script script(const LeaseAnswer& one) {
    return [this, &one](const std::string& head, const Socket& to) {
      if (!head.starts_with("PATCH ") || head.find("/leases/edge-a") == std::string::npos) {
        return Then::pass_on;
      }
      ++answered_;
      (void)to.send(
          "HTTP/1.1 200 OK\r\nAudit-Id: 1\r\n"
          "Content-Type: application/vnd.kubernetes.protobuf\r\nContent-Length: " +
          std::to_string(one.body.size()) + "\r\n\r\n");
      if (!one.drips) {
        (void)to.send(one.body, 4s);
        return Then::keep;
      }
      for (const char byte : one.body) {
        if (hostile->stopping() || over_ || to.send(std::string(1, byte)) == 0) break;
        (void)poll(nullptr, 0, 500);
      }
      return Then::close;
    };
  }

  std::atomic<int> answered_ = 0;
  std::atomic<bool> over_ = false;
};

TEST_F(LeaseAnswers, DoTheAgentNoHarm) {
  for (const LeaseAnswer& one : lease_answers) {
    hostile->cut();
    ASSERT_TRUE(wait_for_link("offline")) << one.name;
    answered_ = 0;
    hostile->play(script(one));
    hostile->mend();
    EXPECT_TRUE(eventually(20s, [this] { return answered_ >= 1; })) << one.name;
    EXPECT_EQ(wait_for_link("connected", one.connects ? 20s : 3s), one.connects) << one.name;
    EXPECT_TRUE(edge->running()) << one.name;
    note_peak("holdfast-edge", edge->peak());
    EXPECT_TRUE(as_node(treasure_list + "&resourceVersion=0").has(treasure)) << one.name;
    over_ = one.drips;
    hostile->play({});
    EXPECT_TRUE(wait_for_link("connected")) << one.name;
    (void)expect_within(*edge, "holdfast-edge", edge_budget / 2, one.name);
  }
  expect_root_is_served();
}

}  // namespace
}  // namespace holdfast::attack
