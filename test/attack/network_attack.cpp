// Callers from another network namespace: root there does not get the node's identity.

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>

#include "test/attack/attack_fixture.h"
#include "test/attack/tls.h"

namespace holdfast::attack {
namespace {

constexpr const char* here = "10.231.77.1";

bool run(const std::string& command) { return std::system((command + " 2>&1").c_str()) == 0; }

// A network namespace connected to this one by a veth pair. The destructor removes both.
class Network {
 public:
  Network() : name_("hfa" + std::to_string(getpid())) {
    const std::string in = "ip -n " + name_;
    good_ = run("ip netns add " + name_) &&
            run("ip link add " + name_ + " type veth peer name inside netns " + name_) &&
            run("ip addr add " + std::string(here) + "/30 dev " + name_) &&
            run("ip link set " + name_ + " up") &&
            run(in + " addr add 10.231.77.2/30 dev inside") && run(in + " link set inside up") &&
            run(in + " link set lo up");
  }
  ~Network() {
    (void)run("ip link del " + name_);
    (void)run("ip netns del " + name_);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] bool good() const { return good_; }
  // Moves this process into the namespace.
  [[nodiscard]] bool enter() const {
    const int fd = ::open(("/run/netns/" + name_).c_str(), O_RDONLY | O_CLOEXEC);
    return fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
  }

 private:
  std::string name_;
  bool good_ = false;
};

TEST_F(Attack, RootOfAnotherNetworkIsNotTheNode) {
  const Network network;
  if (!network.good()) {
    note("no network namespaces");
    GTEST_SKIP() << "NOT RUN: this machine makes no network namespaces (iproute2, CAP_NET_ADMIN)";
  }
  tls = true;
  ASSERT_NO_FATAL_FAILURE(start_lab());
  const std::string at = std::string(here) + ":" + std::to_string(edge_port);
  const std::uint16_t secure_port = free_port();
  launch_edge({"--listen=" + at});
  EXPECT_NE(edge->wait(10s).value_or(0), 0) << "the agent listens on a network address without TLS";
  launch_edge({"--listen=" + at, "--allow-insecure-bind=true",
               "--secure-listen=" + std::string(here) + ":" + std::to_string(secure_port),
               "--require-client-certificates=false"});
  const bool up = eventually(15s, [this] {
    return !edge->running() || ask(admin_port, {.target = "/readyz", .limit = 1s}).served();
  });
  ASSERT_TRUE(up);
  if (!edge->running()) {
    EXPECT_NE(edge_log().find("listen"), std::string::npos) << edge_log();
    return note("the proxy does not listen there");
  }
  const auto from_there = [&](const Act& act) {
    return run_as({.uid = 0}, [&] { return network.enter() ? act() : std::string("not there"); });
  };
  const Ask read{.target = treasure_list, .host = at};
  const Ask write{.target = events_path, .method = "POST", .body = event_body("afar"), .host = at};
  for (const Ask& one : {read, write}) {
    const std::uint16_t port = edge_port;
    const Answer plain = parse_answer(from_there(
        [&one, port] { return converse(connect_to(port, here), text_of(one, port), 5s); }));
    EXPECT_TRUE(plain.refused()) << plain.status;
    EXPECT_FALSE(plain.has(treasure));
    const Answer secure = parse_answer(from_there([&one, secure_port] {
      Ask asked = one;
      asked.host.clear();
      const Answer answer = ask_over_tls(secure_port, asked, here);
      return answer.head + "\r\n" + answer.body;
    }));
    EXPECT_TRUE(secure.refused()) << secure.status;
    EXPECT_FALSE(secure.has(treasure));
  }
  const std::uint16_t admin = admin_port;
  const std::string seen = from_there([admin] {
    return converse(connect_to(admin, here, 1s), text_of({.target = "/"}, admin), 1s);
  });
  EXPECT_EQ(seen, "") << "the admin listener is reachable from another network";
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
}

}  // namespace
}  // namespace holdfast::attack
