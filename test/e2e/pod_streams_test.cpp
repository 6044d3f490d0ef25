// An unmodified kubectl reads logs, runs commands and forwards ports in a cluster of
// `holdfast-lab up`: through the lab's API server to holdfast-node.

#include <sys/wait.h>

#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {
namespace {

using Words = std::vector<std::string>;

class PodStreams : public ::testing::Test {
 protected:
  PodStreams() : up_(up_command(), path("up.log")) {}
  ~PodStreams() override {
    // It ends its processes and pods; killed, it could not.
    up_.signal(SIGINT);
    EXPECT_TRUE(up_.wait(20s));
    if (!HasFailure()) return;
    print_end(path("up.log"));
    print_end(path("lab/logs/node.edge-1.log"));
  }

  [[nodiscard]] Words up_command() const {
    return {"holdfast-lab", "up", "--nodes=1", "--data=" + path("lab"), "--control=" + control_};
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }

  struct Ended {
    int code = -1;
    std::string output;
  };
  // Runs a line of shell, in which $K is kubectl for the cluster.
  Ended shell(const std::string& line, Duration limit = 30s) {
    (void)fs::remove_tree(path("command.log"));
    Process process(shell_words(line), path("command.log"));
    const auto status = process.wait(limit);
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1,
            fs::read_all(path("command.log"), 8UL << 20).value_or("")};
  }
  [[nodiscard]] Words shell_words(const std::string& line) const {
    return {"/usr/bin/env",
            "PATH=" + *proc::system_environment("PATH"),
            "HOME=" + scratch_.path().string(),
            "K=kubectl --kubeconfig=" + path("lab/kubeconfig"),
            "sh",
            "-c",
            line};
  }
  void expect(const std::string& line, int code, const std::string& output) {
    const Ended ended = shell(line);
    EXPECT_EQ(ended.code, code) << line;
    EXPECT_EQ(ended.output, output) << line;
  }
  // The output must contain this text.
  void expect_says(const std::string& line, int code, const std::string& text) {
    const Ended ended = shell(line);
    EXPECT_EQ(ended.code, code) << line << ": " << ended.output;
    EXPECT_NE(ended.output.find(text), std::string::npos) << line << ": " << ended.output;
  }

  // Creates the pods, and waits until they have begun.
  void start_pods() {
    ASSERT_TRUE(eventually(30s, [this] { return shell("$K get node edge-1").code == 0; }));
    ASSERT_TRUE(fs::atomic_write(path("pods.yaml"), manifest()));
    ASSERT_TRUE(
        eventually(30s, [this] { return shell("$K apply -f " + path("pods.yaml")).code == 0; }));
    ASSERT_EQ(shell("$K wait --for=condition=Ready pod/talk pod/place pod/web --timeout=30s").code,
              0);
    ASSERT_TRUE(eventually(30s, [this] {
      return shell("$K get pod again -o jsonpath='{.status.containerStatuses[0].restartCount}'")
                 .output != "0";
    }));
  }
  [[nodiscard]] std::string manifest() const {
    const auto pod = [](const std::string& name, const std::string& containers) {
      return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
             "}\nspec:\n  terminationGracePeriodSeconds: 0\n  containers: [" + containers +
             "]\n---\n";
    };
    const auto container = [](const std::string& name, const std::string& script) {
      return "{name: " + name + ", image: x, command: [sh, -c, \"" + script + "\"]}";
    };
    return pod("talk", container("c", "echo one; echo two >&2; echo three; sleep 1000")) +
           pod("place", container("c", "echo $(pwd) $HOSTNAME $PATH; sleep 1000")) +
           pod("both",
               container("a", "echo from a; sleep 1000") + ", " + container("b", "sleep 1000")) +
           pod("again", container("c", "echo run; exit 3")) +
           pod("count", container("c",
                                  "for i in 1 2 3 4 5; do echo $i; sleep 0.3; done; "
                                  "sleep 1000")) +
           pod("web", container("c", "exec " + server_ + " apiserver --listen=127.0.0.1:" +
                                         std::to_string(port_) + " --data=" + path("web")));
  }

  ScratchDir scratch_;
  const std::string control_ = "127.0.0.1:" + std::to_string(free_port());
  const std::uint16_t port_ = free_port();
  const std::string server_ = std::string(HOLDFAST_BIN_DIR) + "/holdfast-lab";
  Process up_;
};

TEST_F(PodStreams, ACommandRunsLikeTheContainerAndEndsWithItsCaller) {
  ASSERT_NO_FATAL_FAILURE(start_pods());
  const std::string place = "echo $(pwd) $HOSTNAME $PATH";
  expect("$K exec place -- sh -c '" + place + "'", 0, shell("$K logs place").output);
  EXPECT_NE(shell("$K logs place").output, " \n");
  // A command, and what it has started, are found by the number for which they sleep.
  const auto is_running = [this](const std::string& seconds) {
    return shell("pgrep -f '^sleep " + seconds + "'").code == 0;
  };
  EXPECT_NE(shell("timeout 3 $K exec talk -- sh -c 'sleep 98761 & sleep 98761'").code, 0);
  EXPECT_TRUE(eventually(20s, [&] { return !is_running("98761"); })) << "its caller has gone";
  const std::string meanwhile =
      "$K exec place -- sh -c 'sleep 98762 & sleep 98762' & "
      "until pgrep -f '^sleep 98762'; do sleep 0.1; done; $K delete pod place; wait";
  EXPECT_EQ(shell(meanwhile).code, 0);
  EXPECT_TRUE(eventually(20s, [&] { return !is_running("98762"); })) << "its container has ended";
}

TEST_F(PodStreams, KubectlReadsLogsRunsCommandsAndForwardsPorts) {
  ASSERT_NO_FATAL_FAILURE(start_pods());
  expect("$K logs talk", 0, "one\ntwo\nthree\n");
  expect("$K logs talk --tail=1", 0, "three\n");
  expect("$K logs talk --limit-bytes=5", 0, "one\nt");
  expect("$K logs talk --since=1h", 0, "one\ntwo\nthree\n");
  expect("$K logs talk --since-time=2200-01-01T00:00:00Z", 0, "");
  expect("$K logs talk --timestamps | cut -c1-2,11,20,30- | cut -d' ' -f2 | head -1", 0, "one\n");
  expect("$K logs again --previous", 0, "run\n");
  expect_says("$K logs both -c b -p", 1,
              "previous terminated container \"b\" in pod \"both\" not found");
  expect_says("$K get --raw '/api/v1/namespaces/default/pods/both/log'", 1,
              "a container name must be specified for pod both, choose one of: [a b]");
  expect_says("$K get --raw '/api/v1/namespaces/default/pods/talk/log?container=z'", 1,
              "container z is not valid for pod talk");
  expect_says("$K get --raw '/api/v1/namespaces/default/pods/talk/log?tailLines=-2'", 1,
              "must be greater than or equal to 0");
  // What is written later follows, until the container is killed.
  expect_says("($K logs -f count & sleep 2; $K delete pod count --now >/dev/null; wait)", 0,
              "1\n2\n3\n4\n5\n");

  for (const std::string way : {"true", "false"}) {
    const std::string k = "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=" + way + " $K ";
    expect_says(k + "exec talk -- sh -c 'echo out; exit 7'", 7, "out\n");
    expect("echo text | " + k + "exec -i talk -- cat", 0, "text\n");
    expect("head -c 2000000 /dev/zero | " + k + "exec -i talk -- wc -c | tr -d ' '", 0,
           "2000000\n");
    expect(k + "exec talk -- head -c 2000000 /dev/zero | wc -c | tr -d ' '", 0, "2000000\n");
    const std::string local = path("file");
    const std::string in_pod = path("file-in-pod-" + way);
    const std::string back = path("file-back-" + way);
    expect("head -c 300000 /dev/urandom >" + local, 0, "");
    expect(k + "cp " + local + " talk:" + in_pod + " && cmp " + local + " " + in_pod, 0, "");
    // tar remarks that it removes the leading slash.
    expect(k + "cp talk:" + in_pod + " " + back + " >/dev/null 2>&1 && cmp " + local + " " + back,
           0, "");
    expect_says(k + "exec talk -- sh -c 'kill -9 $$'", 137, "exit code 137");
    expect_says(k + "exec talk -- no-such-program", 1, "start no-such-program");
    expect_says("script -qec \"" + k + "exec -it talk -- sh -c 'test -t 0 && exit 5'\" /dev/null",
                5, "exit code 5");
    expect_says(k + "exec again -- true", 1, "container not found (\"c\")");
  }
  expect_says("$K exec both -c z -- true", 1, "container z is not valid for pod both");

  for (const std::string way : {"true", "false"}) {
    const std::string local = std::to_string(free_port());
    const Process forward(
        shell_words("KUBECTL_PORT_FORWARD_WEBSOCKETS=" + way + " exec $K port-forward pod/web " +
                    local + ":" + std::to_string(port_)),
        path("forward.log"));
    const auto at = net::HostPort::parse("127.0.0.1:" + local);
    EXPECT_TRUE(eventually(10s, [&at] {
      return ask(*at, {.target = "/readyz", .limit = 2s}).body == "ok";
    })) << way;
    for (int i = 0; i < 10; ++i) {
      EXPECT_GT(ask(*at, {.target = "/openapi/v2", .limit = 10s}).body.size(), 100'000U) << way;
    }
  }
  // What the pod does not listen on itself is not reachable through it: the edge agent, which would
  // take holdfast-node for its own node.
  const std::string local = std::to_string(free_port());
  expect_says("$K port-forward pod/web " + local +
                  ":10261 & sleep 2; curl -s -m 5 127.0.0.1:" + local + "; wait",
              0, "no process of the pod listens on this port of loopback");
}

TEST_F(PodStreams, ACutLinkIsAnErrorInTime) {
  ASSERT_NO_FATAL_FAILURE(start_pods());
  expect("$K logs talk", 0, "one\ntwo\nthree\n");
  Process follow(shell_words("exec $K logs -f talk"), path("follow.log"));
  ASSERT_TRUE(eventually(10s, [this] {
    return fs::read_all(path("follow.log"), 1UL << 20).value_or("") == "one\ntwo\nthree\n";
  }));
  const std::string lab = server_ + " ";
  ASSERT_EQ(shell(lab + "cut edge-1 --control=" + control_).code, 0);
  const MonoTime began = now();
  expect_says("$K logs talk", 1, "no answer within 8s; is its link cut?");
  EXPECT_LT(now() - began, 12s);
  expect_says("$K exec talk -- true", 1, "no answer within 8s; is its link cut?");
  EXPECT_LT(now() - began, 40s);
  EXPECT_TRUE(follow.wait(60s)) << "a log that is followed ends, too";
  ASSERT_EQ(shell(lab + "heal edge-1 --control=" + control_).code, 0);
  expect("$K logs talk", 0, "one\ntwo\nthree\n");
  ASSERT_EQ(shell(lab + "cut edge-1 --kind=refuse --control=" + control_).code, 0);
  expect_says("$K logs talk", 1, "Connection refused");
}

}  // namespace
}  // namespace holdfast::test
