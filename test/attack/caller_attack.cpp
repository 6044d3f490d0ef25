// Hole 2: who opened a connection to the proxy is told by the kernel, which can be misled.

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/attack/site.h"

namespace holdfast::attack {
namespace {

constexpr int connections = 75;  // of each way to leave

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

// Sends a POST on each of many connections and is gone before anybody looks.
std::string post_and_leave(std::uint16_t port, const Leaving& way) {
  for (int i = 0; i < connections; ++i) {
    Socket socket = connect_to(port);
    if (!socket.open()) continue;
    (void)socket.send(post_event(std::string("stolen-") + way.name + std::to_string(i), port));
    way.leave(socket);
  }
  return "done";
}

// The process ends with all its connections open, each with a request under way.
std::string post_and_exit(std::uint16_t port) {
  for (int i = 0; i < connections; ++i) {
    Socket socket = connect_to(port);
    (void)socket.send(post_event("stolen-exit" + std::to_string(i), port));
    (void)socket.release();
  }
  return "done";
}

class Leavers : public Attack {
 protected:
  void attack() {
    for (const Leaving& way : leavings) {
      const std::uint16_t port = edge_port;
      ASSERT_EQ(as_nobody([port, &way] { return post_and_leave(port, way); }), "done");
      expect_nothing_performed(way.name);
    }
    const std::uint16_t port = edge_port;
    ASSERT_EQ(as_nobody([port] { return post_and_exit(port); }), "done");
    expect_nothing_performed("exit");
    expect_root_is_served();
  }

 private:
  void expect_nothing_performed(const char* way) {
    const auto stolen = [this] { return performed_as_node(events_path, "create"); };
    // Requests that came before are answered before: all of the attack's have been looked at.
    for (int i = 0; i < 20; ++i) (void)as_node(secrets_path);
    (void)eventually(300ms, [&stolen] { return stolen() > 0; });
    EXPECT_EQ(stolen() - seen_, 0u) << "requests performed as the node by way of " << way;
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
  ASSERT_NO_FATAL_FAILURE(warm(secrets_path));
  const Answer stranger = ask_as_nobody(edge_port, {.target = secrets_path});
  EXPECT_TRUE(stranger.refused()) << stranger.status;
  attack();
}

// A socket of nobody on an address where root listens: bound to the device, so that the kernel's
// look-up passes it over and finds the listener.
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

// Connects from where it is bound, asks, and tells what came.
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
  // Nobody takes the addresses of both listeners while the agent is down, and asks from them when
  // it is up. Whether the agent came up.
  bool attack(const Launch& how) {
    edge->kill();
    const std::uint16_t proxy = edge_port;
    const std::uint16_t admin = admin_port;
    int pipe_ends[2] = {-1, -1};
    EXPECT_EQ(pipe(pipe_ends), 0);
    Stranger squatter({.uid = nobody}, [proxy, admin, &pipe_ends](const Say& say) {
      const int at_admin = bind_beside(admin);
      const int at_proxy = bind_beside(proxy);
      say(at_admin >= 0 && at_proxy >= 0 ? "bound" : "not bound");
      char up = 0;
      (void)!read(pipe_ends[0], &up, 1);
      const Answer posted =
          parse_answer(ask_from(at_admin, proxy, post_event("stolen-by-a-squatter", proxy)));
      const Answer read = parse_answer(
          ask_from(at_proxy, admin, text_of({.target = "/v1/objects?resource=secrets"}, admin)));
      say(std::to_string(posted.status));
      say(read.has(treasure) ? "treasure" : std::to_string(read.status));
    });
    EXPECT_EQ(squatter.line(), "bound");
    launch_edge({}, how);
    const bool up =
        eventually(15s,
                   [this] {
                     return !edge->running() ||
                            ask(admin_port, {.target = "/readyz", .limit = 1s}).served();
                   }) &&
        edge->running();
    EXPECT_TRUE(!up || wait_for_link("connected"));
    EXPECT_EQ(write(pipe_ends[1], "u", 1), 1);
    const std::string posted = squatter.line();
    const std::string read_back = squatter.line();
    note(up ? "POST " + posted + ", GET " + read_back : "the agent does not start beside");
    EXPECT_EQ(performed_as_node(events_path, "create"), 0u) << "POST answered " << posted;
    EXPECT_NE(read_back, "treasure");
    EXPECT_NE(read_back, "200");
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
    return up;
  }
};

TEST_F(Squatters, WhoSitsOnTheListenersAddressIsNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  EXPECT_TRUE(attack({}) || edge_log().find("in use") != std::string::npos) << edge_log();
}

TEST_F(Squatters, WhoSitsOnTheListenersAddressIsNotTheNodeWithoutSockDiag) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const bool up = attack({.without_sock_diag = true});
  EXPECT_TRUE(up || edge_log().find("in use") != std::string::npos) << edge_log();
}

}  // namespace
}  // namespace holdfast::attack
