// What every attack begins with: the lab's API server, an edge agent and, where it is attacked,
// holdfast-cloud, as processes on loopback; and what must hold when it is over.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/attack/hostile_server.h"
#include "test/attack/program.h"
#include "test/attack/report.h"
#include "test/attack/stranger.h"
#include "test/attack/wire.h"

namespace holdfast::attack {

// The value of the Secret ns/treasure, as the API shows it, and decoded.
inline const std::string treasure = "dGhlLXRyZWFzdXJlLW9mLXRoZS1ub2Rl";
inline const std::string treasure_decoded = "the-treasure-of-the-node";

inline const std::string secrets_path = "/api/v1/namespaces/ns/secrets";
// The Secret that pod p of the node refers to: a node may read it in no longer list.
inline const std::string treasure_list = secrets_path + "?fieldSelector=metadata.name%3Dtreasure";
inline const std::string map_list =
    "/api/v1/namespaces/ns/configmaps?fieldSelector=metadata.name%3Dc";
inline const std::string events_path = "/api/v1/namespaces/ns/events";
inline const std::string token_path = "/api/v1/namespaces/ns/serviceaccounts/sa/token";

// By which a node may join.
inline const std::string join_token = "abcdef.0123456789abcdef";

// An event: what a node may write, and whoever acts as it.
[[nodiscard]] std::string event_body(const std::string& name);

class Attack : public ::testing::Test {
 protected:
  Attack();
  ~Attack() override;
  void SetUp() override;
  void TearDown() override;

  // Plain HTTP, with tokens: admin-token may do everything, bob-token as well; node-token is the
  // node's; alice-token may do nothing.
  void start_lab(const std::vector<std::string>& more = {});
  // Puts a server that the attacker holds between the lab and whoever is started later.
  HostileServer& take_over();
  // `more` flags win. Without waiting, for what is to refuse to start.
  void launch_edge(const std::vector<std::string>& more = {}, Launch how = {});
  void start_edge(const std::vector<std::string>& more = {}, Launch how = {});
  void start_cloud(const std::vector<std::string>& more = {});
  // All of it, with the Secret in the edge's cache.
  void start_all();

  [[nodiscard]] Answer as_admin(const std::string& method, const std::string& target,
                                const std::string& body = {}) const;
  // Asks the proxy as root, without credentials: as the node.
  [[nodiscard]] Answer as_node(const std::string& target) const;
  // Has the edge cache what is behind the path, for the node.
  void warm(const std::string& path) const;
  [[nodiscard]] std::string metrics() const;
  [[nodiscard]] bool wait_for_link(const std::string& state, Duration limit = 20s) const;
  // How many requests the lab's API server was asked by the node whose URI and verb have this.
  [[nodiscard]] std::size_t performed_as_node(const std::string& uri,
                                              const std::string& verb) const;
  // Fails unless the victim's memory was within the budget (KiB) at any time; whether it was.
  static bool expect_within(Program& victim, const std::string& name, long budget,
                            const std::string& what);
  // Fails unless root gets ten answers of ten, from the proxy and from the admin listener.
  void expect_root_is_served();
  [[nodiscard]] std::string edge_log() const { return read_file(file("edge.log")); }
  [[nodiscard]] std::string file(const std::string& name) const { return dir_ + "/" + name; }

  bool tls = false;  // the lab's API server speaks TLS, with certificates in file("tls")
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

}  // namespace holdfast::attack
