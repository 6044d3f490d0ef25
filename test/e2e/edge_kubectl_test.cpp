// An unmodified kubectl gets the same output from the agent as from the API server behind it.

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

class EdgeKubectl : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    // kubectl sends no token without TLS. So here the server permits everything, and the agent has
    // an administrator's rights, as README.md recommends for kubectl.
    secured = false;
    start_server();
    make_node();
    for (const char* name : {"p1", "p2", "p3"}) make_pod(name);
    // '-' sorts before '/': storage keys sort differently from namespaces.
    for (const char* name : {"a", "a-b", "a0"}) {
      post("/api/v1/namespaces", R"({"metadata":{"name":")" + std::string(name) + R"("}})");
      post("/api/v1/namespaces/" + std::string(name) + "/configmaps",
           R"({"metadata":{"name":"c","labels":{"app":")" + std::string(name) +
               R"("}},"data":{"k":"v \u00fc <&> \n"}})");
    }
    post("/api/v1/namespaces/ns/secrets", R"({"metadata":{"name":"s"},"data":{"k":"dg=="}})");
    post("/api/v1/namespaces/ns/services",
         R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}})");
    start_agent({"--cache-agents=*"});
    ASSERT_TRUE(wait_for_link("connected"));
    std::ofstream(dir() / "direct") << kubeconfig_for(server_port, "direct");
    std::ofstream(dir() / "proxied") << kubeconfig_for(agent_port, "agent");
  }

  void post(const std::string& target, const std::string& body) {
    const Answer made = ask_server({.method = Method::post, .target = target, .body = body});
    ASSERT_EQ(made.status, 201) << made.body;
  }

  std::string kubectl(const std::string& by, const std::string& what) {
    const std::string command =
        "HOME=" + dir().string() + " kubectl --kubeconfig=" + (dir() / by).string() +
        " --cache-dir=" + (dir() / ("cache-" + by)).string() + " " + what + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    const int status = pclose(pipe);
    EXPECT_EQ(status, 0) << command << "\n" << out;
    return out;
  }

  const std::vector<std::string> questions = {
      "get nodes -o json",
      "get node edge-a -o json",
      "get pods -A -o json",
      "get pods -n ns -o json",
      "get pods -n ns p2 -o json",
      "get pods -A --field-selector=spec.nodeName=edge-a -o json",
      "get configmaps -A -o json",
      "get configmaps -A -l app=a-b -o json",
      "get configmaps -A -l app!=a-b -o json",
      "get configmap -n a c -o yaml",
      "get secrets -n ns -o json",
      "get services -A -o json",
      "get namespaces -o json",
      "get pods,configmaps,nodes -A -o json",
  };
};

// The output without the warning that the agent adds while offline.
std::string without_warning(const std::string& printed) {
  constexpr std::string_view warning = "Warning: the cloud has been unreachable since ";
  EXPECT_TRUE(printed.starts_with(warning)) << printed;
  std::string rest = printed;
  // kubectl prints the warning again when one of its requests is sent a second later.
  while (rest.starts_with(warning)) rest.erase(0, rest.find('\n') + 1);
  return rest;
}

TEST_F(EdgeKubectl, AnswersAreTheSameByteForByteOnlineAndOffline) {
  std::vector<std::string> direct;
  for (const std::string& question : questions) {
    direct.push_back(kubectl("direct", question));
    EXPECT_EQ(kubectl("proxied", question), direct.back()) << question;
  }
  // Wait until the agent has cached all scopes that were read.
  ASSERT_TRUE(eventually(20s, [this] {
    const json::value status = admin("/v1/status");
    const json::value& cache = status.at("cache");
    return cache.at("scopes") == cache.at("complete_scopes");
  })) << sync::wire::serialize(admin("/v1/scopes"));
  server->kill();
  ASSERT_TRUE(wait_for_link("offline"));
  for (std::size_t i = 0; i < questions.size(); ++i) {
    EXPECT_EQ(without_warning(kubectl("proxied", questions[i])), direct[i]) << questions[i];
  }
}

// The duration of each request.
std::vector<Duration> time_answers(std::uint16_t port, int count) {
  std::vector<Duration> took;
  for (int i = 0; i < count; ++i) {
    const MonoTime began = now();
    const Answer answer = get(port, all_pods);
    took.push_back(now() - began);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.value().at("items").as_array().size(), 3u);
  }
  return took;
}

TEST_F(EdgeKubectl, TheFirstAnswerAfterACutComesWithinThreeSecondsAndThenAtOnce) {
  warm({all_pods});
  for (const int signal : {SIGSTOP, SIGKILL}) {
    if (signal == SIGKILL) {
      server->kill();
    } else {
      server->signal(signal);
    }
    EXPECT_LT(time_answers(agent_port, 1).front(), 3s) << "signal " << signal;
    std::vector<Duration> next = time_answers(agent_port, 20);
    std::sort(next.begin(), next.end());
    EXPECT_LT(next[10], 50ms) << "signal " << signal;
    if (signal == SIGSTOP) {
      server->signal(SIGCONT);
      ASSERT_TRUE(wait_for_link("connected"));
    }
  }
}

}  // namespace
}  // namespace holdfast::test
