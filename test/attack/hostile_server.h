// An API server controlled by an attacker: forwards requests to the lab's API server, except those
// that a script answers with any bytes.
//
// Plain HTTP/1.1, one thread for each connection. Scripts run in these threads.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/attack/wire.h"

namespace holdfast::attack {

enum class Then {
  pass_on,  // forward the request to the lab's API server
  keep,     // the script has answered; the connection stays open
  close,    // the script has answered; the connection is closed
};

class HostileServer {
 public:
  // `head`: the request from the method to the empty line. `to`: the client's connection.
  using Script = std::function<Then(const std::string& head, const Socket& to)>;

  explicit HostileServer(std::uint16_t lab_port);
  ~HostileServer();
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Replaces the script; without one, every request is forwarded.
  void play(Script script);
  // Closes all connections, and new ones at once, until mend() is called.
  void cut();
  void mend();
  [[nodiscard]] bool stopping() const { return stopping_; }
  // For each connection, all bytes that the client has sent so far.
  [[nodiscard]] std::vector<std::string> received() const;

 private:
  void accept_all();
  void serve(std::size_t number, Socket socket);
  [[nodiscard]] bool read_request(std::size_t number, const Socket& socket, std::string& bytes);
  void pass_on(const std::string& request, const Socket& back) const;
  void hang_up();

  const std::uint16_t lab_port_;
  std::uint16_t port_ = 0;
  Socket listener_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> cut_ = false;
  mutable std::mutex mutex_;              // guards the members below
  std::shared_ptr<const Script> script_;  // may hold large answers, so it is never copied
  std::vector<std::string> received_;
  std::vector<int> open_;  // descriptors of connections; -1 once closed
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// The target of a request, "/path?query", after its method: "GET /path?query".
[[nodiscard]] std::string request_line(const std::string& head);
// A complete response with a Content-Length.
[[nodiscard]] std::string answer_text(int status, const std::string& body,
                                      const std::string& more_headers = {});

// A list compressed with gzip, to a thousandth: `head` (up to the beginning of its items), so many
// spaces and the end.
[[nodiscard]] std::string packed_list(std::string_view head, std::size_t spaces);

}  // namespace holdfast::attack
