// Requests with invented credentials must not count as signs of a running kubelet.

#include <poll.h>

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

}  // namespace
}  // namespace holdfast::attack
