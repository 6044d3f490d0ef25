#include "test/attack/attack_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "test/attack/tls.h"
#include "test/support/quick_agent.h"

namespace holdfast::attack {
namespace {

void print_end(const std::string& file) {
  constexpr std::size_t shown = 3000;
  const std::string text = read_file(file);
  const std::size_t from = text.size() > shown ? text.size() - shown : 0;
  std::printf("---- %s\n%s\n", file.c_str(), text.substr(from).c_str());
}

}  // namespace

std::string event_body(const std::string& name) {
  return R"({"metadata":{"name":")" + name +
         R"(","namespace":"ns"},"involvedObject":{"namespace":"ns","name":"x"},"reason":"r"})";
}

Attack::Attack() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "holdfast-attack-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) dir_ = pattern;
}

Attack::~Attack() {
  std::error_code ignored;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, ignored);
}

void Attack::SetUp() {
  if (geteuid() != 0) {
    note("needs root, to become other users");
    GTEST_SKIP() << "NOT RUN: the attacks need root, to become other users";
  }
}

void Attack::TearDown() {
  check_memory("holdfast-edge", edge, edge_budget);
  check_memory("holdfast-cloud", cloud, cloud_budget);
  cloud.reset();
  edge.reset();
  hostile.reset();
  lab.reset();
  const bool verbose = std::getenv("HOLDFAST_ATTACK_LOGS") != nullptr;
  if (!HasFailure() || !verbose) return;
  for (const char* name : {"audit", "lab.log", "edge.log", "cloud.log"}) print_end(file(name));
}

void Attack::check_memory(const std::string& name, const std::unique_ptr<Program>& program,
                          long budget) {
  if (!program) return;
  note_peak(name, program->peak());
  if (sanitized()) return;
  EXPECT_LE(noted_peak(name), budget) << "KiB of " << name << " at its peak";
}

void Attack::write_kubeconfig(const std::string& name, const std::string& token) const {
  const std::uint16_t port = hostile ? hostile->port() : lab_port;
  const std::string server = (tls ? "https://127.0.0.1:" : "http://127.0.0.1:") +
                             std::to_string(port) +
                             (tls ? "\n    certificate-authority: " + file("tls") + "/ca.crt" : "");
  write_file(
      file(name),
      "apiVersion: v1\nkind: Config\ncurrent-context: up\nclusters:\n- name: up\n  cluster:\n"
      "    server: " +
          server + "\nusers:\n- name: up\n  user:\n    token: " + token +
          "\ncontexts:\n- name: up\n  context:\n    cluster: up\n    user: up\n");
}

void Attack::start_lab(const std::vector<std::string>& more) {
  write_file(file("tokens"),
             "admin-token,admin,1,\"system:masters\"\n"
             "node-token,system:node:edge-a,2,\"system:nodes\"\n"
             "bob-token,bob,3,\"system:masters\"\n"
             "alice-token,alice,4,\"readers\"\n" +
                 join_token + ",system:bootstrap:abcdef,5,\"system:bootstrappers\"\n");
  Launch launch{
      .argv = {"holdfast-lab", "apiserver", "--listen=127.0.0.1:" + std::to_string(lab_port),
               "--data=" + file("lab"), "--token-file=" + file("tokens"),
               "--audit-log-path=" + file("audit"), "--controllers=false"},
      .log = file("lab.log")};
  launch.argv.insert(launch.argv.end(), more.begin(), more.end());
  if (tls) {
    ASSERT_EQ(mkdir(file("tls").c_str(), 0700), 0);
    launch.argv.push_back("--tls-dir=" + file("tls"));
  }
  lab = std::make_unique<Program>(launch);
  ASSERT_TRUE(eventually(30s, [this] { return as_admin("GET", "/readyz").served(); }));
  const std::pair<const char*, std::string> objects[] = {
      {"/api/v1/namespaces", R"({"metadata":{"name":"ns"}})"},
      {"/api/v1/nodes", R"({"metadata":{"name":"edge-a"}})"},
      {"/api/v1/namespaces/ns/serviceaccounts", R"({"metadata":{"name":"sa"}})"},
      {"/api/v1/namespaces/ns/configmaps", R"({"metadata":{"name":"c"},"data":{"k":"v"}})"},
      {"/api/v1/namespaces/ns/secrets",
       R"({"metadata":{"name":"treasure"},"data":{"k":")" + treasure + R"("}})"},
      {"/api/v1/namespaces/ns/pods",
       R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge-a","containers":[)"
       R"({"name":"c","image":"i"}],"serviceAccountName":"sa","volumes":[)"
       R"({"name":"s","secret":{"secretName":"treasure"}},)"
       R"({"name":"plain","secret":{"secretName":"plain","optional":true}},)"
       R"({"name":"c","configMap":{"name":"c"}}]}})"},
  };
  for (const auto& [path, body] : objects) {
    const int status = as_admin("POST", path, body).status;
    ASSERT_TRUE(status == 201 || status == 409) << path << " " << status;
  }
}

HostileServer& Attack::take_over() {
  hostile = std::make_unique<HostileServer>(lab_port);
  return *hostile;
}

void AttackThroughServer::SetUp() {
  Attack::SetUp();
  if (IsSkipped()) return;
  ASSERT_NO_FATAL_FAILURE(start_lab());
  take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
}

void Attack::launch_edge(const std::vector<std::string>& more, Launch how) {
  if (edge) note_peak("holdfast-edge", edge->peak());
  edge.reset();
  write_kubeconfig("edge.kubeconfig", "node-token");
  how.argv = {"holdfast-edge",
              "--node-name=edge-a",
              "--kubeconfig=" + file("edge.kubeconfig"),
              "--data-dir=" + file("edge"),
              "--listen=127.0.0.1:" + std::to_string(edge_port),
              "--admin-listen=127.0.0.1:" + std::to_string(admin_port)};
  const std::vector<std::string> quick = test::quick_agent_flags();
  how.argv.insert(how.argv.end(), quick.begin(), quick.end());
  for (const std::string& flag : more) {
    const std::string name = flag.substr(0, flag.find('=') + 1);
    std::erase_if(how.argv, [&name](const std::string& one) { return one.starts_with(name); });
    how.argv.push_back(flag);
  }
  how.log = file("edge.log");
  edge = std::make_unique<Program>(how);
}

void Attack::start_edge(const std::vector<std::string>& more, Launch how) {
  launch_edge(more, std::move(how));
  const auto ready = [this] {
    return !edge->running() || ask(admin_port, {.target = "/readyz", .limit = 1s}).served();
  };
  ASSERT_TRUE(eventually(30s, ready));
  ASSERT_TRUE(edge->running()) << "holdfast-edge did not start:\n" << edge_log();
  ASSERT_TRUE(wait_for_link("connected"));
}

void Attack::start_cloud(const std::vector<std::string>& more) {
  write_kubeconfig("cloud.kubeconfig", "admin-token");
  Launch launch{.argv = {"holdfast-cloud", "--kubeconfig=" + file("cloud.kubeconfig"),
                         "--bind-address=127.0.0.1", "--secure-port=" + std::to_string(cloud_port)},
                .log = file("cloud.log")};
  launch.argv.insert(launch.argv.end(), more.begin(), more.end());
  cloud = std::make_unique<Program>(launch);
  const auto alive = [this] {
    return !cloud->running() || ask(cloud_port, {.target = "/livez", .limit = 1s}).status != 0;
  };
  ASSERT_TRUE(eventually(30s, alive));
  ASSERT_TRUE(cloud->running()) << "holdfast-cloud did not start:\n"
                                << read_file(file("cloud.log"));
}

void Attack::start_all() {
  start_lab();
  if (HasFatalFailure()) return;
  start_edge();
  if (HasFatalFailure()) return;
  warm("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge-a");
  warm(treasure_list);
}

Answer Attack::as_admin(const std::string& method, const std::string& target,
                        const std::string& body) const {
  const Ask question{.target = target, .method = method, .body = body, .bearer = "admin-token"};
  return tls ? ask_over_tls(lab_port, question) : ask(lab_port, question);
}

Answer Attack::as_node(const std::string& target) const {
  return ask(edge_port, {.target = target});
}

void Attack::warm(const std::string& path) const {
  const std::string target = path + (path.find('?') == std::string::npos ? "?" : "&");
  ASSERT_TRUE(eventually(
      20s, [this, &target] { return as_node(target + "resourceVersion=0").status == 200; }))
      << path << " " << as_node(target + "resourceVersion=0").head;
}

std::string Attack::metrics() const { return ask(admin_port, {.target = "/metrics"}).body; }

bool Attack::wait_for_link(const std::string& state, Duration limit) const {
  const std::string line = "holdfast_edge_link_state{state=\"" + state + "\"} 1";
  return eventually(limit, [this, &line] { return metrics().find(line) != std::string::npos; });
}

std::size_t Attack::performed_as_node(const std::string& uri, const std::string& verb) const {
  std::istringstream lines(read_file(file("audit")));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool node = line.find("\"system:node:edge-a\"") != std::string::npos;
    const bool here = line.find(uri) != std::string::npos;
    if (node && here && line.find("\"verb\":\"" + verb + "\"") != std::string::npos) ++count;
  }
  return count;
}

bool Attack::expect_within(Program& victim, const std::string& name, long budget,
                           const std::string& what) {
  note_peak(name, victim.peak());
  if (sanitized() || victim.peak() <= budget) return true;
  ADD_FAILURE() << what << ": " << victim.peak() / 1024 << " MiB of " << name;
  note(what);
  return false;
}

void Attack::expect_root_is_served() {
  int proxied = 0;
  int admin = 0;
  for (int i = 0; i < 10; ++i) {
    const Ask read{.target = treasure_list + "&resourceVersion=0", .limit = 2s};
    proxied += ask(edge_port, read).served() ? 1 : 0;
    admin += ask(admin_port, {.target = "/healthz", .limit = 2s}).served() ? 1 : 0;
  }
  EXPECT_EQ(proxied, 10) << "answers of the proxy to root";
  EXPECT_EQ(admin, 10) << "answers of the admin listener to root";
}

}  // namespace holdfast::attack
