// Attacks on the identification of callers: the proxy asks the kernel which user owns a connection,
// and these attacks try to hide or fake the owner.

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

constexpr int connections = 75;  // for each of five ways to leave

struct Leaving {
  const char* name;
  void (*leave)(Socket& socket);
};

void close_at_once(Socket& socket) { socket.close(); }

void shut_down(Socket& socket) {
  (void)shutdown(socket.fd(), SHUT_RDWR);
  socket.close();
}

void half_close(Socket& socket) {
  (void)shutdown(socket.fd(), SHUT_WR);
  socket.close();
}

void reset(Socket& socket) {
  const linger now{1, 0};
  (void)setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  socket.close();
}

const Leaving leavings[] = {{"close", close_at_once},
                            {"shutdown", shut_down},
                            {"half-close", half_close},
                            {"reset", reset}};

std::string post_event(const std::string& name, std::uint16_t port) {
  return text_of({.target = events_path, .method = "POST", .body = event_body(name)}, port);
}

// Sends a POST on each of many connections and closes them before the agent looks for their owner.
std::string post_and_leave(std::uint16_t port, const Leaving& way) {
  for (int i = 0; i < connections; ++i) {
    Socket socket = connect_to(port);
    if (!socket.open()) continue;
    (void)socket.send(post_event(std::string("stolen-") + way.name + std::to_string(i), port));
    way.leave(socket);
  }
  return "done";
}

// Ends the process while all its connections are open, each with a request in progress.
std::string post_and_exit(std::uint16_t port) {
  for (int i = 0; i < connections; ++i) {
    Socket socket = connect_to(port);
    (void)socket.send(post_event("stolen-exit" + std::to_string(i), port));
    (void)socket.release();
  }
  return "done";
}

// Whether a connection to the port is still in FIN_WAIT1. In that state the kernel still knows its
// owner, later it does not.
bool is_closing(std::uint16_t port) {
  char to[32];
  (void)std::snprintf(to, sizeof to, " 0100007F:%04X 04 ", static_cast<unsigned>(port));
  return read_file("/proc/net/tcp").find(to) != std::string::npos;
}

class Leavers : public Attack {
 protected:
  void attack() {
    const std::uint16_t port = edge_port;
    for (const Leaving& way : leavings) {
      pounce([port, &way] { return post_and_leave(port, way); }, way.name);
    }
    pounce([port] { return post_and_exit(port); }, "exit");
    expect_root_is_served();
  }

 private:
  // Stops the agent during the attack, as if it were busy, so that the callers leave before it
  // looks.
  void pounce(const Act& act, const char* way) {
    edge->signal(SIGSTOP);
    EXPECT_EQ(run_as_nobody(act), "done");
    (void)eventually(3s, [port = edge_port] { return !is_closing(port); });
    edge->signal(SIGCONT);
    expect_nothing_performed(way);
  }
  void expect_nothing_performed(const char* way) {
    const auto stolen = [this] { return performed_as_node(events_path, "create"); };
    // Requests are handled in order: after these, all requests of the attack have been handled.
    for (int i = 0; i < 20; ++i) (void)as_node(treasure_list);
    (void)eventually(300ms, [&stolen] { return stolen() > 0; });
    EXPECT_EQ(stolen() - seen_, 0u) << "requests performed as the node, way of leaving: " << way;
    note(std::string(way) + " " + std::to_string(stolen() - seen_));
    seen_ = stolen();
  }

  std::size_t seen_ = 0;
};

TEST_F(Leavers, WhoPostsAndLeavesIsNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  attack();
}

TEST_F(Leavers, WhoPostsAndLeavesIsNotTheNodeWithoutSockDiag) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  ASSERT_NO_FATAL_FAILURE(start_edge({}, {.without_sock_diag = true}));
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  const Answer attacker = ask_as_nobody(edge_port, {.target = treasure_list});
  EXPECT_TRUE(attacker.refused()) << attacker.status;
  attack();
}

// Binds a socket of the user nobody to an address where root listens. It is also bound to the
// device, so that the kernel's socket lookup skips it and finds the listener.
int bind_beside(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) != 0) return -1;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 ? fd : -1;
}

// Connects the bound socket to the port, sends a request and returns the answer.
std::string ask_from(int fd, std::uint16_t port, const std::string& bytes) {
  const Socket socket(fd);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return "not connected";
  return converse(socket, bytes, 5s);
}

class Squatters : public Attack {
 protected:
  // The user nobody binds the address of the listener at `from` while the agent is down, and sends
  // a request from there to the listener at `to` once the agent runs.
  void attack(std::uint16_t from, std::uint16_t to, const Ask& question, const Launch& how) {
    edge->kill();
    int up[2] = {-1, -1};
    ASSERT_EQ(pipe(up), 0);
    AttackerProcess squatter({.uid = nobody}, [from, to, &up, &question](const Say& say) {
      const int bound = bind_beside(from);
      say(bound >= 0 ? "bound" : "not bound");
      char ready = 0;
      (void)!read(up[0], &ready, 1);
      const Answer answer = parse_answer(ask_from(bound, to, text_of(question, to)));
      say(answer.has(treasure) ? "the treasure" : std::to_string(answer.status));
    });
    ASSERT_EQ(squatter.line(), "bound");
    launch_edge({}, how);
    const bool came_up =
        eventually(15s,
                   [this] {
                     return !edge->running() ||
                            ask(admin_port, {.target = "/readyz", .limit = 1s}).served();
                   }) &&
        edge->running();
    // It is also safe if the agent refuses to start because its address is in use.
    EXPECT_TRUE(came_up || edge_log().find("in use") != std::string::npos) << edge_log();
    EXPECT_TRUE(!came_up || wait_for_link("connected"));
    EXPECT_EQ(write(up[1], "u", 1), 1);
    const std::string got = squatter.line();
    note(came_up ? "got " + got : "the agent does not start beside");
    EXPECT_EQ(performed_as_node(events_path, "create"), 0u) << "answered " << got;
    EXPECT_NE(got, "the treasure");
    EXPECT_NE(got.substr(0, 1), "2");
    (void)close(up[0]);
    (void)close(up[1]);
  }

  void attack_all(const Launch& how) {
    ASSERT_NO_FATAL_FAILURE(start_all());
    const Ask write{.target = events_path, .method = "POST", .body = event_body("by-a-squatter")};
    ASSERT_NO_FATAL_FAILURE(attack(admin_port, edge_port, write, how));
    const Ask read{.target = treasure_list + "&resourceVersion=0"};
    ASSERT_NO_FATAL_FAILURE(attack(admin_port, edge_port, read, how));
    const Ask page{.target = "/v1/objects?resource=secrets"};
    ASSERT_NO_FATAL_FAILURE(attack(edge_port, admin_port, page, how));
  }
};

TEST_F(Squatters, WhoSitsOnTheListenersAddressIsNotTheNode) { attack_all({}); }

TEST_F(Squatters, WhoSitsOnTheListenersAddressIsNotTheNodeWithoutSockDiag) {
  attack_all({.without_sock_diag = true});
}

}  // namespace
}  // namespace holdfast::attack
