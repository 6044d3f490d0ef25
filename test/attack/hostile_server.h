// An API server in the hands of an attacker: passes requests on to the lab's, except those that a
// script answers with whatever bytes it likes.
//
// Plain HTTP/1.1, one thread for each connection. Scripts run in these threads.

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/wire.h"

namespace holdfast::attack {

enum class Then {
  pass_on,  // the lab's API server answers
  keep,     // answered; the connection stays open
  close,    // answered; the connection ends
};

class HostileServer {
 public:
  // `head`: from the method to the empty line. `to` is the connection.
  using Script = std::function<Then(const std::string& head, const Socket& to)>;

  explicit HostileServer(std::uint16_t lab_port);
  ~HostileServer();
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Replaces the script; none: all is passed on.
  void play(Script script);
  // Hangs up on everybody, and on whoever comes, until it is mended.
  void cut();
  void mend();
  [[nodiscard]] bool stopping() const { return stopping_; }
  // All bytes that each connection has sent so far.
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
  mutable std::mutex mutex_;  // of what follows
  Script script_;
  std::vector<std::string> received_;
  std::vector<int> open_;  // descriptors of connections, -1 when closed
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// "GET /path?query" of a head.
[[nodiscard]] std::string request_line(const std::string& head);
// A whole answer with a length.
[[nodiscard]] std::string answer_text(int status, const std::string& body,
                                      const std::string& more_headers = {});

}  // namespace holdfast::attack
