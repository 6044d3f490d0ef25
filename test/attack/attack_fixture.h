// The fixture of every attack: the lab's API server, an edge agent and, for some attacks,
// holdfast-cloud, as processes on loopback; and the checks after an attack.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/attack/attacker_process.h"
#include "test/attack/hostile_server.h"
#include "test/attack/program.h"
#include "test/attack/report.h"
#include "test/attack/wire.h"

namespace holdfast::attack {

// The value of the Secret ns/treasure: base64 as in the API, and decoded.
inline const std::string treasure = "dGhlLXRyZWFzdXJlLW9mLXRoZS1ub2Rl";
inline const std::string treasure_decoded = "the-treasure-of-the-node";

inline const std::string secrets_path = "/api/v1/namespaces/ns/secrets";
// A list that contains only the Secret to which the node's pod p refers: a node may list no more
// Secrets than that.
inline const std::string treasure_list = secrets_path + "?fieldSelector=metadata.name%3Dtreasure";
inline const std::string map_list =
    "/api/v1/namespaces/ns/configmaps?fieldSelector=metadata.name%3Dc";
inline const std::string events_path = "/api/v1/namespaces/ns/events";
inline const std::string token_path = "/api/v1/namespaces/ns/serviceaccounts/sa/token";

// The bootstrap token by which a node may join.
inline const std::string join_token = "abcdef.0123456789abcdef";

// An Event, which the node may create, and thus everyone whom the agent takes for the node.
[[nodiscard]] std::string event_body(const std::string& name);

class Attack : public ::testing::Test {
 protected:
  Attack();
  ~Attack() override;
  void SetUp() override;
  void TearDown() override;

  // The lab's API server over plain HTTP, with four tokens: admin-token and bob-token may do
  // everything, node-token is the node's, alice-token may do nothing.
  void start_lab(const std::vector<std::string>& more = {});
  // Puts a hostile server between the lab and all programs that are started later.
  HostileServer& take_over();
  // Starts the edge agent without waiting, for configurations that it must refuse. `more` overrides
  // its flags.
  void launch_edge(const std::vector<std::string>& more = {}, Launch how = {});
  void start_edge(const std::vector<std::string>& more = {}, Launch how = {});
  void start_cloud(const std::vector<std::string>& more = {});
  // Starts the lab and the edge agent, and waits until the agent has cached the Secret.
  void start_all();

  [[nodiscard]] Answer as_admin(const std::string& method, const std::string& target,
                                const std::string& body = {}) const;
  // Sends a GET to the proxy as root without credentials, so that the agent uses the node's
  // identity.
  [[nodiscard]] Answer as_node(const std::string& target) const;
  // Reads the path as the node until the agent has cached it.
  void warm(const std::string& path) const;
  [[nodiscard]] std::string metrics() const;
  [[nodiscard]] bool wait_for_link(const std::string& state, Duration limit = 20s) const;
  // The number of requests in the lab's audit log that the node sent with this verb and with `uri`
  // in their URI.
  [[nodiscard]] std::size_t performed_as_node(const std::string& uri,
                                              const std::string& verb) const;
  // Fails unless the victim's peak memory (KiB) is within the budget. Returns whether it is.
  static bool expect_within(Program& victim, const std::string& name, long budget,
                            const std::string& what);
  // Fails unless both the proxy and the admin listener answer all of ten requests from root.
  void expect_root_is_served();
  [[nodiscard]] std::string edge_log() const { return read_file(file("edge.log")); }
  [[nodiscard]] std::string file(const std::string& name) const { return dir_ + "/" + name; }

  bool tls = false;  // the lab's API server uses TLS with the certificates in file("tls")
  const std::uint16_t lab_port = free_port();
  const std::uint16_t edge_port = free_port();
  const std::uint16_t admin_port = free_port();
  const std::uint16_t cloud_port = free_port();
  std::unique_ptr<Program> lab;
  std::unique_ptr<Program> edge;
  std::unique_ptr<Program> cloud;
  std::unique_ptr<HostileServer> hostile;

 private:
  void write_kubeconfig(const std::string& name, const std::string& token) const;
  void check_memory(const std::string& name, const std::unique_ptr<Program>& program, long budget);

  std::string dir_;
};

// Starts the lab and, behind a hostile server, the edge agent, which has cached the Secret.
class AttackThroughServer : public Attack {
 protected:
  void SetUp() override;
};

}  // namespace holdfast::attack
