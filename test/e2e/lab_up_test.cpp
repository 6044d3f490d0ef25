// `holdfast-lab up` with two real edges, used as a person does: with kubectl, and with commands
// from another terminal.

#include <sys/wait.h>

#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {
namespace {

using Words = std::vector<std::string>;

class LabUp : public ::testing::Test {
 protected:
  LabUp() : up_(arguments(), path("up.log")) {}
  ~LabUp() override {
    if (HasFailure()) print_end(path("up.log"));
  }

  [[nodiscard]] Words arguments() const {
    Words words = {"holdfast-lab", "up", "--nodes=2", "--data=" + path("lab"),
                   "--control=" + control_};
    for (const char* flag : {"node-monitor-grace-period=3s", "node-monitor-period=500ms",
                             "node-lease-duration=3s", "leader-elect=false"}) {
      words.push_back("--cloud-flag=" + std::string(flag));
    }
    for (const char* flag :
         {"lease-renew-interval=500ms", "lease-duration=3s", "probe-deadline=500ms",
          "probe-backoff-min=200ms", "probe-backoff-max=500ms", "rejoin-jitter=100ms"}) {
      words.push_back("--edge-flag=" + std::string(flag));
    }
    return words;
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }

  struct Ended {
    int code = -1;
    std::string output;
  };
  Ended run(const Words& words) {
    (void)fs::remove_tree(path("command.log"));
    Process process(words, path("command.log"));
    const auto status = process.wait(20s);
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1,
            fs::read_all(path("command.log"), 1UL << 20).value_or("")};
  }
  Ended command(Words words) {
    words.insert(words.begin(), "holdfast-lab");
    words.push_back("--control=" + control_);
    return run(words);
  }
  // The STATUS that kubectl shows of a node.
  std::string kubectl_status(const std::string& node) {
    const Ended shown =
        run({"/usr/bin/env", "PATH=" + *proc::system_environment("PATH"),
             "HOME=" + scratch_.path().string(), "KUBECONFIG=" + path("lab/kubeconfig"), "kubectl",
             "get", "node", node, "--no-headers",
             "-o=custom-columns=S:.status.conditions[?(@.type"
             "=='Ready')].status"});
    return shown.output.substr(0, shown.output.find('\n'));
  }
  // A field of a node in `status -o json`.
  std::string in_view(const std::string& node, std::string_view field) {
    const Ended shown = command({"status", "-o", "json"});
    const auto view = sync::wire::parse_json(shown.output);
    if (!view || !view->is_object()) return shown.output;
    for (const json::value& each : view->at("nodes").as_array()) {
      if (text_in(each, {"name"}) == node) return text_in(each, {field});
    }
    return "no such node";
  }
  [[nodiscard]] bool becomes(const std::string& node, std::string_view field,
                             const std::string& wanted) {
    return eventually(20s,
                      [this, &node, field, &wanted] { return in_view(node, field) == wanted; });
  }

  // The command lines of all processes that name the data directory.
  [[nodiscard]] Words processes() const { return processes_naming(path("lab")); }

  ScratchDir scratch_;
  const std::string control_ = "127.0.0.1:" + std::to_string(free_port());
  Process up_;
};

TEST_F(LabUp, IsCutHealedAndKilledAndLeavesNothingBehind) {
  ASSERT_TRUE(eventually(30s, [this] { return std::filesystem::exists(path("lab/kubeconfig")); }));
  ASSERT_TRUE(eventually(20s, [this] { return kubectl_status("edge-2") == "True"; }));
  ASSERT_TRUE(becomes("edge-1", "ready", "True"));
  ASSERT_TRUE(becomes("edge-1", "agent", "connected"));

  const Ended wrong = command({"cut", "egde-1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.output, "holdfast-lab: cut: unknown name \"egde-1\"; did you mean \"edge-1\"?\n");
  const Ended clock = command({"clock", "edge-1", "+1h"});
  EXPECT_EQ(clock.code, 2);
  EXPECT_NE(clock.output.find("`holdfast-lab sim` can"), std::string::npos) << clock.output;

  EXPECT_EQ(command({"cut", "edge-1"}).output, "cut edge-1\n");
  EXPECT_EQ(in_view("edge-1", "link"), "cut");
  EXPECT_TRUE(becomes("edge-1", "agent", "offline"));
  EXPECT_TRUE(eventually(20s, [this] { return kubectl_status("edge-1") == "Unknown"; }));
  EXPECT_EQ(kubectl_status("edge-2"), "True");
  EXPECT_EQ(command({"heal", "all"}).output, "heal edge-1\nheal edge-2\n");
  EXPECT_TRUE(eventually(20s, [this] { return kubectl_status("edge-1") == "True"; }));

  EXPECT_EQ(command({"degrade", "edge-1", "4g"}).output, "degrade edge-1 to 4g\n");
  EXPECT_EQ(in_view("edge-1", "link"), "4g");
  EXPECT_EQ(command({"cut", "edge-1"}).output, "cut edge-1\n");
  EXPECT_EQ(in_view("edge-1", "link"), "cut");
  EXPECT_EQ(command({"degrade", "cloud", "4g"}).output, "degrade cloud to 4g\n");
  EXPECT_EQ(command({"heal", "edge-1", "cloud"}).output, "heal edge-1\nheal cloud\n");
  EXPECT_EQ(in_view("edge-1", "link"), "up") << "heal ends cut and degrade";

  EXPECT_EQ(command({"kill", "edge-2", "--for=2s"}).output,
            "kill holdfast-edge of edge-2 for 2s\n");
  EXPECT_TRUE(becomes("edge-2", "agent", "down"));
  EXPECT_TRUE(becomes("edge-2", "agent", "connected"));

  EXPECT_GE(processes().size(), 6U);
  up_.signal(SIGINT);
  const auto status = up_.wait(20s);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
  EXPECT_EQ(processes(), Words());
  EXPECT_EQ(command({"status"}).code, 1) << "nothing listens any more";
  const std::string log = fs::read_all(path("up.log"), 1UL << 20).value_or("");
  EXPECT_NE(log.find("edge-1: Ready True -> Unknown\n"), std::string::npos);
}

TEST_F(LabUp, RefusesWebPages) {
  const net::HostPort at = *net::HostPort::parse(control_);
  ASSERT_TRUE(eventually(30s, [&at] { return get(at.port, "/v1/view").status == 200; }));
  const struct {
    http::Header header;
    int status;
  } rows[] = {{{"Host", control_}, 200},
              {{"Host", "example.org"}, 403},
              {{"Origin", "http://" + control_}, 403},
              {{"Sec-Fetch-Site", "cross-site"}, 403}};
  for (const auto& row : rows) {
    EXPECT_EQ(ask(at, {.target = "/v1/view", .headers = {row.header}}).status, row.status)
        << row.header.name;
  }
}

}  // namespace
}  // namespace holdfast::test
