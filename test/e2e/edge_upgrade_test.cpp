// The commands exec, attach and logs of an unmodified kubectl give the same output through the
// agent as directly, from an API server with TLS that prefers HTTP/2. The lab cannot forward them
// to a kubelet, so the test answers in its place.

#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "test/e2e/edge_bench.h"
#include "test/e2e/websocket_echo.h"
#include "test/support/certificates.h"
#include "test/support/system_loop.h"

namespace holdfast::test {
namespace {

// A log of two lines, the second of which comes later.
class LogLines final : public http::BodyStream {
 public:
  asio::awaitable<Result<std::string>> next() override {
    std::string piece;
    const int which = given_++;
    if (which == 0) piece = "first line\n";
    if (which == 1) {
      co_await loop::wait_for(300ms);
      piece = "second line\n";
    }
    co_return piece;
  }
  void cancel() override {}

 private:
  int given_ = 0;
};

// A server in front of the lab's API server that answers for the kubelet; runs in its own thread.
class KubeletFront {
 public:
  explicit KubeletFront(std::uint16_t lab)
      : client_({.at = {"127.0.0.1", lab}}),
        server_(context_.get_executor(), {},
                [this](const http::Request& request) { return answer(request); }) {
    const Subject subject{.common_name = "server", .names = {"IP:127.0.0.1"}};
    const auto tls = tls::Context::for_server(
        {.identity = authority_.sign(subject), .protocols = {"h2", "http/1.1"}});
    auto listener =
        net::Listener::open(context_.get_executor(), {"127.0.0.1", 0}, tls.value()).value();
    port = listener->port();
    server_.listen(std::move(listener));
    thread_ = std::thread([this] { context_.run(); });
  }
  ~KubeletFront() {
    context_.stop();
    thread_.join();
  }
  KubeletFront(const KubeletFront&) = delete;
  KubeletFront& operator=(const KubeletFront&) = delete;

  [[nodiscard]] std::string ca_pem() const { return authority_.certificate_pem(); }
  std::uint16_t port = 0;

 private:
  asio::awaitable<http::Response> answer(const http::Request& request) {
    const std::string_view path = request.path();
    http::Response response;
    if (path.find("/pods/locked/") != std::string_view::npos) {
      response.status = 403;
      response.headers.add("Content-Type", "application/json");
      response.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                      R"("message":"nobody may look inside","reason":"Forbidden","code":403})";
    } else if (path.ends_with("/exec") || path.ends_with("/attach")) {
      auto echo = std::make_shared<WebsocketEcho>(context_.get_executor());
      response = WebsocketEcho::upgraded(request, std::move(echo));
    } else if (path.ends_with("/log")) {
      response.headers.add("Content-Type", "text/plain");
      response.stream = std::make_shared<LogLines>();
    } else {
      auto passed = co_await client_.open(request, SystemClock().mono() + 10s);
      if (passed) response = *std::move(passed);
      if (!passed) response.status = 503;
    }
    co_return response;
  }

  SystemLoop context_;
  Authority authority_{"front"};
  http::Client client_;
  http::Server server_;
  std::thread thread_;
};

class EdgeUpgrade : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    start_server();
    make_node();
    for (const char* name : {"p", "locked"}) make_pod(name);
    const std::string ca = (dir() / "front.crt").string();
    std::ofstream(ca) << front_->ca_pem();
    // Without a user kubectl would prompt for one.
    const std::string config =
        "apiVersion: v1\nkind: Config\ncurrent-context: d\nclusters:\n"
        "- name: d\n  cluster:\n    certificate-authority: " +
        ca + "\n    server: https://127.0.0.1:" + std::to_string(front_->port) +
        "\ncontexts:\n- name: d\n  context:\n    cluster: d\n    user: u\n"
        "users:\n- name: u\n  user:\n    token: ";
    // Replaces EdgeBench's kubeconfig of the agent, which points at the lab directly.
    std::ofstream(dir() / "agent.kubeconfig") << config << node_token << "\n";
    std::ofstream(dir() / "direct") << config << admin_token << "\n";
    std::ofstream(dir() / "proxied") << kubeconfig_for(agent_port, "agent");
    start_agent({"--secure-listen="});  // a fixed port would prevent tests in parallel
    ASSERT_TRUE(wait_for_link("connected"));
  }

  // The output of kubectl, followed by its exit code.
  std::string kubectl(const std::string& by, const std::string& what, const std::string& input) {
    const std::string command = "printf '" + input + "' | HOME=" + dir().string() +
                                " timeout 30 kubectl --kubeconfig=" + (dir() / by).string() +
                                " --cache-dir=" + (dir() / ("cache-" + by)).string() + " -n ns " +
                                what + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      out.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    return out + "exit " + std::to_string(WEXITSTATUS(status));
  }

  std::unique_ptr<KubeletFront> front_ = std::make_unique<KubeletFront>(server_port);
};

TEST_F(EdgeUpgrade, KubectlSeesNoDifference) {
  struct Row {
    std::string what;
    std::string input;
    std::string expected;
  };
  const std::string much(3000, 'x');
  const Row rows[] = {
      {"exec -i p -c c -- cat", "hello\\n", "hello\nexit 0"},
      {"exec -i p -c c -- cat", much, much + "exit 0"},
      {"attach -i p -c c", "hello\\n", "hello\nexit 0"},
      {"logs p -c c", "", "first line\nsecond line\nexit 0"},
      {"logs -f p -c c", "", "first line\nsecond line\nexit 0"},
      {"exec -i locked -c c -- cat", "",
       "Error from server (Forbidden): nobody may look inside\nexit 1"},
  };
  for (const Row& row : rows) {
    const std::string direct = kubectl("direct", row.what, row.input);
    EXPECT_EQ(kubectl("proxied", row.what, row.input), direct) << row.what;
    EXPECT_NE(direct.find(row.expected), std::string::npos) << row.what << ": " << direct;
  }
}

TEST_F(EdgeUpgrade, WithoutTheCloudItSaysSoAtOnce) {
  front_.reset();
  ASSERT_TRUE(wait_for_link("offline"));
  const Ask exec{.method = http::Method::post,
                 .target = "/api/v1/namespaces/ns/pods/p/exec?command=sh",
                 .user_agent = "kubectl/v1"};
  const Answer refused = ask(agent_port, exec);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("the cloud has been unreachable since "), std::string::npos)
      << refused.body;
}

}  // namespace
}  // namespace holdfast::test
