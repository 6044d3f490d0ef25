// `holdfast-lab run --kubeconfig` with a user who may do what the run asks for, and nothing else.
// The rights are granted from the words of its own error, so that a request without a right in that
// list fails here.

#include "platform/text.h"
#include "sync/wire/json.h"
#include "test/e2e/processes.h"
#include "test/e2e/run_program.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
namespace json = sync::json;

using test::Ended;
using test::eventually;
using test::Process;
using test::run_program;

constexpr const char* scenario_text = R"(
name: user
about: a node of a guest is drained
duration: 3s
fleet:
  sites:
  - {name: a, nodes: 2}
edge: {lease-duration: 4s, lease-renew-interval: 1s, probe-deadline: 500ms, probe-backoff-max: 1s}
workloads:
- {deployment: web, replicas: 2, priority: PRIORITY}
- {daemonset: probe, namespace: shop}
events:
- {at: 500ms, drain: a-1}
- {at: 1s, delete-pods: web}
- {at: 2s, uncordon: a-1}
expect:
- {restarts: 0}
)";

// The rule for "update certificatesigningrequests/approval.certificates.k8s.io".
json::object rule_of(const std::vector<std::string_view>& words) {
  const std::string_view target = words.at(1);
  const std::size_t dot = std::min(target.find('.'), target.size());
  const std::string_view group = target.substr(std::min(dot + 1, target.size()));
  json::object rule = {{"verbs", json::array{words.at(0)}},
                       {"apiGroups", json::array{group}},
                       {"resources", json::array{target.substr(0, dot)}}};
  if (words.size() == 3) rule["resourceNames"] = json::array{words.at(2)};
  return rule;
}

json::object rbac_object(std::string_view kind, const std::string& name, const std::string& space) {
  json::object metadata = {{"name", name}};
  if (!space.empty()) metadata["namespace"] = space;
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", kind}, {"metadata", metadata}};
}

// Roles called `name` with the rights that `text` lists, bound to the user: one for the cluster
// and one for each namespace that a right is "in".
std::string roles_of(const std::string& text, const std::string& name) {
  std::map<std::string, json::array> rules;  // by namespace
  for (const std::string_view right : split(text, ',')) {
    auto words = split(trim(right), ' ');
    std::string space;
    if (words.size() > 3 && words[words.size() - 2] == "in") {
      space = words.back();
      words.resize(words.size() - 2);
    }
    rules[space].push_back(rule_of(words));
  }
  json::array items;
  for (auto& [space, list] : rules) {
    const std::string kind = space.empty() ? "ClusterRole" : "Role";
    json::object role = rbac_object(kind, name, space);
    role["rules"] = std::move(list);
    json::object binding = rbac_object(kind + "Binding", name, space);
    binding["roleRef"] =
        json::object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
    binding["subjects"] = json::array{
        json::object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "ann"}}};
    items.push_back(std::move(role));
    items.push_back(std::move(binding));
  }
  return sync::wire::serialize(
      json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

class LabGuestUser : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        fs::atomic_write(path("tokens"), "root,admin,1,\"system:masters\"\nt,ann,2\n", 0600));
    server_.emplace(
        std::vector<std::string>{HOLDFAST_BIN_DIR "/holdfast-lab", "apiserver",
                                 "--data=" + path("server"), "--listen=127.0.0.1:0",
                                 "--tls-dir=" + path("tls"), "--token-file=" + path("tokens"),
                                 "--rbac=true", "--write-kubeconfig=" + path("admin")},
        path("server.log"));
    std::string own;
    ASSERT_TRUE(eventually(20s, [this, &own] {
      own = fs::read_all(path("admin"), 1 << 20).value_or("");
      return !own.empty();
    })) << fs::read_all(path("server.log"), 1 << 20).value_or("");
    const std::size_t token = own.find("'root'");
    ASSERT_NE(token, std::string::npos) << own;
    ASSERT_TRUE(fs::atomic_write(path("user"), own.replace(token, 6, "'t'"), 0600));
    cloud_.emplace(
        std::vector<std::string>{HOLDFAST_BIN_DIR "/holdfast-cloud",
                                 "--kubeconfig=" + path("admin"), "--node-monitor-period=200ms",
                                 "--node-lease-duration=4s", "--node-monitor-grace-period=4s",
                                 "--leader-elect=false", "--secure-port=0"},
        path("cloud.log"));
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  Ended ended(std::vector<std::string> words) const {
    return run_program(std::move(words), path("command" + std::to_string(++calls_) + ".log"), 60s);
  }
  // Plays the scenario as the user.
  Ended run(const std::string& priority) const {
    std::string text = scenario_text;
    text.replace(text.find("PRIORITY"), 8, priority);
    EXPECT_TRUE(fs::atomic_write(path("user.yaml"), text));
    // Without namespaces, as a user who is not root on the machine either plays it.
    return ended({HOLDFAST_BIN_DIR "/holdfast-lab", "run", path("user.yaml"),
                  "--kubeconfig=" + path("user"), "--namespaces=false"});
  }
  // The rights that the run lacks, as it names them.
  std::string missing(const std::string& priority) const {
    const Ended refused = run(priority);
    EXPECT_EQ(refused.exit, (proc::ExitStatus{false, 1})) << refused.output;
    const std::string before = ": the user may not: ";
    const std::size_t begin = refused.output.find(before);
    if (begin == std::string::npos) return "no rights: " + refused.output;
    const std::string text = refused.output.substr(begin + before.size());
    return text.substr(0, text.find('\n'));
  }
  void grant(const std::string& rights, const std::string& name) const {
    ASSERT_TRUE(fs::atomic_write(path("roles.json"), roles_of(rights, name)));
    const Ended granted =
        ended({"kubectl", "--kubeconfig=" + path("admin"), "apply", "-f", path("roles.json")});
    EXPECT_EQ(granted.exit, proc::ExitStatus()) << granted.output;
  }

  test::ScratchDir scratch_;
  mutable int calls_ = 0;
  std::optional<Process> server_;
  std::optional<Process> cloud_;
};

TEST_F(LabGuestUser, NeedsOnlyTheRightsThatTheRunNames) {
  grant(missing("0"), "every-run");
  const Ended without = run("0");
  EXPECT_EQ(without.exit, proc::ExitStatus()) << without.output;
  EXPECT_NE(without.output.find("removed everything of lab-"), std::string::npos) << without.output;

  const std::string priorities = missing("5");
  EXPECT_EQ(priorities,
            "create priorityclasses.scheduling.k8s.io, delete priorityclasses.scheduling.k8s.io");
  grant(priorities, "priorities");
  const Ended with = run("5");
  EXPECT_EQ(with.exit, proc::ExitStatus()) << with.output;
  EXPECT_NE(with.output.find("removed everything of lab-"), std::string::npos) << with.output;
}

}  // namespace
}  // namespace holdfast
