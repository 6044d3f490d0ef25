// Attacks by callers without certificates on the listener for callers with certificates; and
// HTTP/2.

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "test/attack/attack_fixture.h"
#include "test/attack/tls.h"

namespace holdfast::attack {
namespace {

constexpr std::size_t frame_bytes = 16 * 1024;

std::string frame(char type, char flags, std::uint32_t stream, const std::string& payload) {
  const auto byte = [](std::size_t value, int shift) {
    return static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xff);
  };
  std::string bytes = {byte(payload.size(), 16),
                       byte(payload.size(), 8),
                       byte(payload.size(), 0),
                       type,
                       flags,
                       byte(stream, 24),
                       byte(stream, 16),
                       byte(stream, 8),
                       byte(stream, 0)};
  return bytes + payload;
}

// An HPACK header block: POST, https, with path and authority as literals.
std::string post_header(std::uint32_t stream, const std::string& credentials) {
  const auto literal = [](char name, const std::string& value) {
    return std::string{name, static_cast<char>(value.size())} + value;
  };
  std::string block = "\x83\x87" + literal(0x04, events_path) + literal(0x01, "localhost");
  if (!credentials.empty()) {
    block += std::string{0x0f, 0x08, static_cast<char>(credentials.size())} + credentials;
  }
  return frame(1, 4, stream, block);
}

// A HEADERS frame: GET, https, as a kubelet.
std::string get_header(std::uint32_t stream, const std::string& path, const std::string& token) {
  const auto value = [](const std::string& text) { return static_cast<char>(text.size()) + text; };
  const std::string agent = std::string{0x0f, 0x2b} + value("kubelet/v1.32.4");
  const std::string credentials = std::string{0x0f, 0x08} + value("Bearer " + token);
  // Flags 5: END_HEADERS and END_STREAM.
  return frame(1, 5, stream,
               "\x82\x87\x04" + value(path) + "\x01" + value("localhost") + agent + credentials);
}

// The sum of the increments in `bytes` that WINDOW_UPDATE frames add to the connection's window.
std::size_t opened_by(const std::string& bytes) {
  std::size_t at = 0;
  std::size_t opened = 0;
  const auto byte = [&bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  while (at + 13 <= bytes.size()) {
    const std::size_t size = (byte(at) * 65536UL) + (byte(at + 1) * 256UL) + byte(at + 2);
    if (byte(at + 3) == 8 && byte(at + 8) == 0 && byte(at + 7) == 0) {
      opened += (byte(at + 10) * 65536UL) + (byte(at + 11) * 256UL) + byte(at + 12);
    }
    at += 9 + size;
  }
  return opened;
}

// The number of responses with status 200 in `bytes`, found by how such HEADERS frames begin.
int answered_in(const std::string& bytes) {
  int count = 0;
  const auto byte = [&bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (std::size_t at = 0; at + 10 <= bytes.size();) {
    const std::size_t size = (byte(at) * 65536UL) + (byte(at + 1) * 256UL) + byte(at + 2);
    if (byte(at + 3) == 1 && byte(at + 9) == 0x88) ++count;
    at += 9 + size;
  }
  return count;
}

// Requests a list on a hundred streams of one connection and reads only the beginnings of the
// answers. Returns how many were answered.
std::string ask_on_many_streams(const TlsSocket& socket, const std::string& path) {
  std::string opening = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "");
  for (std::uint32_t stream = 1; stream < 200; stream += 2) {
    opening += get_header(stream, path, "bob-token");
  }
  if (!socket.send(opening)) return "nothing sent";
  std::string came;
  const auto until = Clock::now() + 3s;
  while (Clock::now() < until) came += socket.receive(200ms);
  return std::to_string(answered_in(came));
}

// Sends a hundred requests on one connection, with as much of their bodies as the windows allow.
std::size_t send_streams(const TlsSocket& socket, const std::string& credentials) {
  std::string opening =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "") + frame(4, 1, 0, "");
  for (std::uint32_t stream = 1; stream < 200; stream += 2) {
    opening += post_header(stream, credentials);
  }
  if (!socket.send(opening)) return 0;
  std::size_t window = 65535;
  std::size_t sent = 0;
  std::uint32_t stream = 1;
  for (int round = 0; round < 8; ++round) {
    while (window >= frame_bytes) {
      if (!socket.send(frame(0, 0, stream, std::string(frame_bytes, ' ')))) return sent;
      window -= frame_bytes;
      sent += frame_bytes;
      stream = stream >= 199 ? 1 : stream + 2;
    }
    window += opened_by(socket.receive(20ms));
  }
  return sent;
}

class Tls : public Attack {
 protected:
  void start_with_tls(const std::vector<std::string>& more = {}) {
    tls = true;
    ASSERT_NO_FATAL_FAILURE(start_lab());
    std::vector<std::string> flags = {"--secure-listen=127.0.0.1:" + std::to_string(secure_port),
                                      "--require-client-certificates=false"};
    flags.insert(flags.end(), more.begin(), more.end());
    ASSERT_NO_FATAL_FAILURE(start_edge(flags));
    ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
    const auto up = [this] { return TlsSocket(secure_port, "http/1.1").open(); };
    ASSERT_TRUE(eventually(10s, up)) << edge_log();
  }
  void expect_within_budget(const std::string& what) {
    note_peak("holdfast-edge", edge->peak());
    EXPECT_TRUE(edge->running()) << what;
    EXPECT_TRUE(sanitized() || edge->peak() <= edge_budget)
        << what << ": " << edge->peak() / 1024 << " MiB";
  }

  const std::uint16_t secure_port = free_port();
};

TEST_F(Tls, AStrangerGetsNothing) {
  ASSERT_NO_FATAL_FAILURE(start_with_tls());
  for (const std::string token : {"", "invented", "alice-token"}) {
    for (const std::string& target : {treasure_list, treasure_list + "&resourceVersion=0"}) {
      const Answer answer = ask_over_tls(secure_port, {.target = target, .bearer = token});
      EXPECT_TRUE(answer.refused()) << token << ": " << answer.status;
      EXPECT_FALSE(answer.has(treasure)) << token;
    }
  }
  EXPECT_EQ(ask_over_tls(secure_port, {.target = treasure_list, .bearer = "bob-token"}).status,
            200);
}

TEST_F(Tls, InventedCredentialsDoNotKeepADeadKubeletAlive) {
  ASSERT_NO_FATAL_FAILURE(start_with_tls({"--kubelet-grace=1s"}));
  const std::uint16_t port = secure_port;
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge-a";
  const std::string body = R"({"metadata":{"name":"edge-a","namespace":"kube-node-lease"}})";
  AttackerProcess attacker({.uid = nobody}, [port, &lease, &body](const Say& say) {
    for (bool first = true;; first = false) {
      const Answer put = ask_over_tls(
          port, {.target = lease, .method = "PUT", .body = body, .bearer = "x", .limit = 2s});
      const Answer patch = ask_over_tls(port, {.target = "/api/v1/nodes/edge-a/status",
                                               .method = "PATCH",
                                               .body = "{}",
                                               .bearer = "x",
                                               .limit = 2s});
      if (first) say(std::to_string(put.status) + " " + std::to_string(patch.status));
      (void)poll(nullptr, 0, 50);
    }
  });
  EXPECT_EQ(attacker.line(), "401 401");
  EXPECT_TRUE(eventually(6s, [this] {
    return metrics().find("\nholdfast_edge_kubelet_inactive 1") != std::string::npos;
  }));
}

TEST_F(Tls, EndlessRequestsAreCutOff) {
  ASSERT_NO_FATAL_FAILURE(start_with_tls());
  const std::uint16_t port = secure_port;
  const std::array<std::array<std::string, 2>, 4> floods = {{
      {"Transfer-Encoding: chunked\r\n\r\n1;", std::string(16 * 1024, 'a')},
      {"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", std::string(16 * 1024, 'a')},
      {"Transfer-Encoding: chunked\r\n\r\n0\r\n", "X: " + std::string(1000, 'b') + "\r\n"},
      {"X: ", std::string(16 * 1024, 'a')},
  }};
  for (const auto& [begin, piece] : floods) {
    const std::string first = "POST " + events_path +
                              " HTTP/1.1\r\nHost: localhost:" + std::to_string(port) +
                              "\r\nAuthorization: Bearer x\r\n" + begin;
    const std::string sent_by = run_as_nobody([&first, &piece = piece, port] {
      const TlsSocket socket(port, "http/1.1");
      bool taken = socket.send(first);
      if (!taken) return std::string("nothing sent");
      const auto until = Clock::now() + 4s;
      for (std::size_t sent = 0; taken && sent < (192UL << 20) && Clock::now() < until;) {
        taken = socket.send(piece);
        sent += piece.size();
      }
      return std::string("done");
    });
    EXPECT_EQ(sent_by, "done") << begin;
    expect_within_budget(begin);
    if (HasFailure()) return;
  }
  expect_root_is_served();
}

// Only the lab's API server accepts HTTP/2; the agent's listeners accept only HTTP/1.1.
class Http2 : public Attack {
 protected:
  void start() {
    tls = true;
    ASSERT_NO_FATAL_FAILURE(start_lab());
    const auto up = [this] { return TlsSocket(lab_port, "h2").protocol() == "h2"; };
    ASSERT_TRUE(eventually(10s, up)) << "the lab does not offer HTTP/2";
  }
  // Creates a namespace with `objects` objects of 100 KB each.
  void fill_list(const std::string& name, int objects) {
    ASSERT_EQ(
        as_admin("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + name + R"("}})").status,
        201);
    for (int i = 0; i < objects; ++i) {
      const std::string body = R"({"metadata":{"name":"c)" + std::to_string(i) +
                               R"("},"data":{"k":")" + std::string(100'000, 'x') + R"("}})";
      const std::string path = "/api/v1/namespaces/" + name + "/configmaps";
      ASSERT_EQ(as_admin("POST", path, body).status, 201);
    }
  }

  // The lab allows 256 MiB for requests and answers, of which one user other than root may use a
  // third. The rest of the budget below is for copies: a body that grows is copied.
  void expect_bounded(uid_t uid, long before, const std::string& what) {
    EXPECT_TRUE(lab->running()) << what;
    const long grown = lab->peak() - before;
    const long budget = (uid == 0 ? 320 : 160) * 1024L;
    note(what + ": " + std::to_string(grown / 1024) + " MiB");
    EXPECT_TRUE(sanitized() || grown <= budget) << what << ": " << grown / 1024 << " MiB";
    EXPECT_TRUE(as_admin("GET", "/readyz").served()) << what;
  }
};

TEST_F(Http2, BodiesOfManyStreamsAreBounded) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::uint16_t port = lab_port;
  const long before = lab->peak();
  for (const std::string credentials : {"", "Bearer invented", "Bearer bob-token"}) {
    AttackerProcess attacker({.uid = nobody, .limit = 60s}, [port, &credentials](const Say& say) {
      std::vector<TlsSocket> held;
      std::size_t sent = 0;
      const auto until = Clock::now() + 8s;
      for (int i = 0; i < 60 && Clock::now() < until; ++i) {
        held.emplace_back(port, "h2");
        sent += send_streams(held.back(), credentials);
      }
      say(std::to_string(sent >> 10));
      for (;;) (void)poll(nullptr, 0, 1000);
    });
    const std::string taken = attacker.line();
    EXPECT_GE(std::atoi(taken.c_str()), 64) << "KiB taken";
    expect_bounded(nobody, before, taken + " KiB of bodies");
    if (HasFailure()) return;
  }
}

// One connection requests a large list on a hundred streams and reads only their beginnings.
TEST_F(Http2, AnswersOfManyStreamsAreBounded) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(fill_list("large", 50));
  const std::uint16_t port = lab_port;
  const long before = lab->peak();
  for (const uid_t uid : {nobody, uid_t{0}}) {
    AttackerProcess attacker({.uid = uid, .limit = 60s}, [port](const Say& say) {
      const TlsSocket socket(port, "h2");
      say(ask_on_many_streams(socket, "/api/v1/namespaces/large/configmaps"));
      for (;;) (void)poll(nullptr, 0, 1000);
    });
    const std::string given = attacker.line();
    EXPECT_GE(std::atoi(given.c_str()), 1) << given;
    expect_bounded(uid, before, given + " answers of 5 MB to uid " + std::to_string(uid));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace holdfast::attack
