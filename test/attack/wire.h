// HTTP/1.1 over plain sockets, byte by byte, for attacks.
//
// This file shares no code with the product's HTTP and checks nothing before sending it. Every wait
// has a limit. The functions may be called in a forked child.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/free_port.h"

namespace holdfast::attack {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Duration = std::chrono::milliseconds;

// Calls `done` every few milliseconds until it returns true or `limit` has passed.
[[nodiscard]] bool eventually(Duration limit, const std::function<bool()>& done);

// A TCP socket, closed by the destructor. If it is not connected, fd() is negative.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int release();
  void close();
  // Sends all bytes, or as many as the peer takes within `limit`; returns their number.
  std::size_t send(std::string_view bytes, Duration limit = 5s) const;
  // The next bytes, at most 64 KiB; empty if the peer closed or nothing came within `limit`.
  [[nodiscard]] std::string receive(Duration limit = 5s) const;

 private:
  int fd_ = -1;
};

// Connects to a port of 127.0.0.1, or of another IPv4 address.
[[nodiscard]] Socket connect_to(std::uint16_t port, const char* address = "127.0.0.1",
                                Duration limit = 5s);
// Listens on 127.0.0.1. A `port` of 0 takes a free one and is set to it.
[[nodiscard]] Socket listen_on(std::uint16_t& port);
using test::free_port;

struct Answer {
  int status = 0;  // 0: no answer came
  std::string head = {};
  std::string body = {};  // without chunk framing
  bool whole = false;     // complete according to its head

  [[nodiscard]] bool served() const { return status >= 200 && status < 300; }
  [[nodiscard]] bool refused() const { return status == 401 || status == 403; }
  [[nodiscard]] bool has(std::string_view text) const {
    return head.find(text) != std::string::npos || body.find(text) != std::string::npos;
  }
};

// The first final response in `bytes`; responses with status 1xx are skipped.
[[nodiscard]] Answer parse_answer(std::string_view bytes);

struct Ask {
  std::string target;
  std::string method = "GET";
  std::string body = {};
  std::string bearer = {};
  std::string host = {};  // empty: the address and the port
  std::string user_agent = "kubelet/v1.32.4 (linux/amd64)";
  std::vector<std::string> headers = {};  // more header lines, sent unchanged
  Duration limit = 15s;
};

[[nodiscard]] std::string text_of(const Ask& ask, std::uint16_t port);
// Sends `bytes` and returns what arrives until one response is complete, the end, or the limit.
[[nodiscard]] std::string converse(const Socket& socket, std::string_view bytes, Duration limit);
// converse() on a new connection.
[[nodiscard]] std::string converse(std::uint16_t port, std::string_view bytes,
                                   Duration limit = 15s);
[[nodiscard]] std::string ask_raw(std::uint16_t port, const Ask& ask);
[[nodiscard]] Answer ask(std::uint16_t port, const Ask& ask);

}  // namespace holdfast::attack
