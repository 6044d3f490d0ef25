// An agent whose network comes late: no name server, one that takes its time, and one that never
// answers. In a network namespace of the test, with a name server of the test.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <fstream>
#include <thread>

#include "platform/net/interfaces.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

constexpr std::uint16_t dns_port = 53;

// The answer to a query (RFC 1035): every name has the address 127.0.0.1, and none of IPv6.
std::string dns_answer(const std::string& query) {
  constexpr std::size_t header = 12;
  std::size_t end = header;
  while (end < query.size() && query[end] != '\0') {
    end += 1 + std::size_t{static_cast<unsigned char>(query[end])};
  }
  end += 5;  // the empty label, the type and the class
  if (end > query.size()) return {};
  const bool v4 = query[end - 3] == 1;
  using namespace std::string_literals;
  const std::string flags_and_counts = "\x81\x80\0\1\0"s + (v4 ? "\1"s : "\0"s) + "\0\0\0\0"s;
  const std::string record = "\xC0\x0C\0\1\0\1\0\0\0\0\0\4\x7F\0\0\1"s;
  return query.substr(0, 2) + flags_and_counts + query.substr(header, end - header) +
         (v4 ? record : std::string());
}

// A name server at 127.0.0.1 that answers after `delay`; a negative one stands for never.
class NameServer {
 public:
  explicit NameServer(std::chrono::milliseconds delay)
      : delay_(delay), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(dns_port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    good_ = bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    thread_ = std::thread([this] { serve(); });
  }
  ~NameServer() {
    over_ = true;
    thread_.join();
    (void)close(socket_);
  }
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  struct Due {
    MonoTime at;
    sockaddr_in to;
    std::string answer;
  };

  void serve() {
    while (!over_) {
      pollfd ready{socket_, POLLIN, 0};
      if (poll(&ready, 1, 10) > 0) take();
      while (!due_.empty() && due_.front().at <= now()) {
        const Due& due = due_.front();
        (void)sendto(socket_, due.answer.data(), due.answer.size(), 0,
                     reinterpret_cast<const sockaddr*>(&due.to), sizeof due.to);
        due_.pop_front();
      }
    }
  }
  void take() {
    std::array<char, 1500> query{};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t count =
        recvfrom(socket_, query.data(), query.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (count <= 0) return;
    ++asked_;
    if (delay_ < 0ms) return;
    const std::string text(query.data(), static_cast<std::size_t>(count));
    due_.push_back({now() + delay_, from, dns_answer(text)});
  }

  std::chrono::milliseconds delay_;
  int socket_;
  bool good_ = false;
  std::deque<Due> due_;
  std::atomic<bool> over_ = false;
  std::atomic<int> asked_ = 0;
  std::thread thread_;
};

class EdgeNetwork : public ::testing::Test, public EdgeBench {
 protected:
  // Runs `body` in a thread where the network has only loopback and where the name server is the
  // test's. Processes that it starts inherit that.
  void play(const std::string& resolver_options, const std::function<void()>& body) {
    const std::string file = (dir() / "resolv.conf").string();
    std::ofstream(file) << "nameserver 127.0.0.1\noptions " << resolver_options << "\n";
    std::thread inside([&] {
      ASSERT_EQ(unshare(CLONE_NEWNET | CLONE_NEWNS), 0) << "needs root";
      ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
      ASSERT_EQ(mount(file.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr), 0);
      const auto interfaces = net::kernel_interfaces();
      ASSERT_TRUE(interfaces->set_up(interfaces->find("lo").value().value().index));
      body();
    });
    inside.join();
  }

  // Starts the server, and names it in the agent's kubeconfig.
  void start_named_server() {
    start_server();
    make_node();
    std::string text = kubeconfig_for(server_port, "named", node_token);
    const std::string address = "127.0.0.1:";
    const std::size_t at = text.find(address);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, address.size(), "api.example.test:");
    std::ofstream(dir() / "agent.kubeconfig") << text;
  }

  std::string fault() { return text_in(admin("/v1/status"), {"link", "fault"}); }
};

TEST_F(EdgeNetwork, ServesWithoutANameServerAndConnectsWhenOneAnswers) {
  play("timeout:1 attempts:1", [this] {
    start_named_server();
    launch_agent();
    ASSERT_TRUE(eventually(60s, [this] { return get(admin_port, "/livez").status == 200; }));
    ASSERT_TRUE(wait_for_link("offline"));
    EXPECT_TRUE(eventually(60s, [this] { return fault() == "dns"; })) << admin("/v1/status");
    const NameServer server(0ms);
    ASSERT_TRUE(server.good());
    EXPECT_TRUE(wait_for_link("connected"));
  });
}

TEST_F(EdgeNetwork, ConnectsByANameServerThatTakesThreeSeconds) {
  play("timeout:10 attempts:3", [this] {
    start_named_server();
    const NameServer server(3s);
    ASSERT_TRUE(server.good());
    launch_agent();
    EXPECT_TRUE(wait_for_link("connected"));
  });
}

// The name server would hold a lookup for minutes; that keeps no agent from its end.
TEST_F(EdgeNetwork, EndsWhileANameServerIsSilent) {
  play("timeout:30 attempts:5", [this] {
    start_named_server();
    const NameServer server(-1ms);
    ASSERT_TRUE(server.good());
    launch_agent();
    ASSERT_TRUE(eventually(60s, [this] { return get(admin_port, "/livez").status == 200; }));
    ASSERT_TRUE(eventually(60s, [&server] { return server.asked() > 0; }));
    EXPECT_TRUE(eventually(60s, [this] { return fault() == "dns"; })) << admin("/v1/status");
    agent->signal(SIGTERM);
    EXPECT_EQ(agent->wait(60s).value_or(-1), 0) << "it has not ended";
  });
}

}  // namespace
}  // namespace holdfast::test
