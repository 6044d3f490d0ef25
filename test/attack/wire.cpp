#include "test/attack/wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace holdfast::attack {
namespace {

constexpr std::size_t answer_bytes_max = 64 << 20;

int left(Clock::time_point until) {
  const auto rest = std::chrono::duration_cast<Duration>(until - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, rest));
}

bool ready(int fd, short what, Clock::time_point until) {
  pollfd one{fd, what, 0};
  return poll(&one, 1, left(until)) > 0;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

std::optional<std::string> header(std::string_view head, std::string_view name) {
  const std::string lower = to_lower(head);
  const std::size_t at = lower.find("\r\n" + to_lower(name) + ":");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t from = at + 2 + name.size() + 1;
  const std::size_t end = std::min(lower.find("\r\n", from), lower.size());
  const std::size_t first = std::min(lower.find_first_not_of(' ', from), end);
  return lower.substr(first, end - first);
}

// Appends the content of the chunks to `body`. Returns whether the last chunk has arrived.
bool unchunk(std::string_view bytes, std::string& body) {
  for (;;) {
    const std::size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return false;
    std::size_t size = 0;
    const auto read = std::from_chars(bytes.data(), bytes.data() + end, size, 16);
    if (read.ec != std::errc()) return false;
    bytes.remove_prefix(end + 2);
    if (size == 0) return bytes.find("\r\n") != std::string_view::npos;
    body += bytes.substr(0, size);
    if (bytes.size() < size + 2) return false;
    bytes.remove_prefix(size + 2);
  }
}

}  // namespace

bool eventually(Duration limit, const std::function<bool()>& done) {
  const auto until = Clock::now() + limit;
  for (;;) {
    if (done()) return true;
    if (Clock::now() >= until) return false;
    (void)poll(nullptr, 0, 10);
  }
}

Socket& Socket::operator=(Socket&& other) noexcept {
  close();
  fd_ = other.release();
  return *this;
}

int Socket::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void Socket::close() {
  if (fd_ >= 0) (void)::close(fd_);
  fd_ = -1;
}

std::size_t Socket::send(std::string_view bytes, Duration limit) const {
  const auto until = Clock::now() + limit;
  std::size_t sent = 0;
  while (sent < bytes.size() && ready(fd_, POLLOUT, until)) {
    const auto count =
        ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) break;
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
  return sent;
}

std::string Socket::receive(Duration limit) const {
  std::string bytes(64 * 1024, '\0');
  if (!ready(fd_, POLLIN, Clock::now() + limit)) return {};
  const auto count = ::recv(fd_, bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

Socket connect_to(std::uint16_t port, const char* address, Duration limit) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  (void)inet_pton(AF_INET, address, &to.sin_addr);
  const int done = ::connect(socket.fd(), reinterpret_cast<sockaddr*>(&to), sizeof to);
  if (done != 0 && errno != EINPROGRESS) return {};
  int error = 0;
  socklen_t size = sizeof error;
  const bool answered = ready(socket.fd(), POLLOUT, Clock::now() + limit);
  (void)getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (!answered || error != 0) return {};
  (void)fcntl(socket.fd(), F_SETFL, 0);
  return socket;
}

Socket listen_on(std::uint16_t& port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  (void)setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (bind(socket.fd(), reinterpret_cast<sockaddr*>(&at), size) != 0) return {};
  if (listen(socket.fd(), 512) != 0) return {};
  (void)getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&at), &size);
  port = ntohs(at.sin_port);
  return socket;
}

Answer parse_answer(std::string_view bytes) {
  Answer answer;
  for (;;) {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos || !bytes.starts_with("HTTP/1.")) return answer;
    answer.status = std::atoi(std::string(bytes.substr(9, 3)).c_str());
    answer.head = bytes.substr(0, end + 2);
    bytes.remove_prefix(end + 4);
    if (answer.status >= 200 || answer.status == 101) break;
    answer = {};
  }
  if (header(answer.head, "transfer-encoding") == "chunked") {
    answer.whole = unchunk(bytes, answer.body);
    return answer;
  }
  const auto length = header(answer.head, "content-length");
  const bool empty = answer.status == 204 || answer.status == 304 || answer.status == 101;
  const std::size_t size = length ? std::strtoul(length->c_str(), nullptr, 10) : bytes.size();
  answer.body = empty ? std::string() : std::string(bytes.substr(0, size));
  answer.whole = empty || (length && bytes.size() >= size);
  return answer;
}

std::string text_of(const Ask& ask, std::uint16_t port) {
  const std::string host = ask.host.empty() ? "127.0.0.1:" + std::to_string(port) : ask.host;
  std::string text = ask.method + " " + ask.target + " HTTP/1.1\r\nHost: " + host + "\r\n";
  if (!ask.user_agent.empty()) text += "User-Agent: " + ask.user_agent + "\r\n";
  text += "Accept: application/json\r\n";
  if (!ask.bearer.empty()) text += "Authorization: Bearer " + ask.bearer + "\r\n";
  for (const std::string& line : ask.headers) text += line + "\r\n";
  if (!ask.body.empty() || ask.method == "POST" || ask.method == "PUT") {
    const bool patch = ask.method == "PATCH";
    text += patch ? "Content-Type: application/merge-patch+json\r\n"
                  : "Content-Type: application/json\r\n";
    text += "Content-Length: " + std::to_string(ask.body.size()) + "\r\n";
  }
  return text + "\r\n" + ask.body;
}

std::string converse(const Socket& socket, std::string_view bytes, Duration limit) {
  if (!socket.open()) return {};
  const auto until = Clock::now() + limit;
  (void)socket.send(bytes, limit);
  std::string came;
  while (came.size() < answer_bytes_max) {
    const std::string more = socket.receive(Duration(left(until)));
    came += more;
    if (more.empty() || parse_answer(came).whole) break;
  }
  return came;
}

std::string converse(std::uint16_t port, std::string_view bytes, Duration limit) {
  return converse(connect_to(port, "127.0.0.1", limit), bytes, limit);
}

std::string ask_raw(std::uint16_t port, const Ask& ask) {
  return converse(port, text_of(ask, port), ask.limit);
}

Answer ask(std::uint16_t port, const Ask& question) {
  return parse_answer(ask_raw(port, question));
}

}  // namespace holdfast::attack
