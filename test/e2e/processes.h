// Real programs and plain requests to them, for tests.
//
// Everything that was started is killed by its pid in the end. Waiting is for conditions, with a
// deadline.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/http/message.h"
#include "platform/net/transport.h"
#include "platform/proc/identity.h"
#include "sync/api/json.h"
#include "test/support/free_port.h"

namespace holdfast::test {

using namespace std::chrono_literals;
namespace json = sync::json;

// Looks again and again, every few milliseconds, until `done` or the deadline.
[[nodiscard]] bool eventually(Duration limit, const std::function<bool()>& done);
[[nodiscard]] MonoTime now();

// A program of ours (by its name in the build's bin/) or another one.
class Process {
 public:
  Process(std::vector<std::string> argv, std::string log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Kills and reaps it.
  void kill();
  // Its wait status, once it has ended; 0 if it was reaped before.
  [[nodiscard]] std::optional<int> wait(Duration limit);
  [[nodiscard]] pid_t pid() const { return identity_.pid; }

 private:
  proc::ProcessIdentity identity_;
  bool reaped_ = false;
};

struct Answer {
  int status = 0;  // 0: none came; `body` says why
  std::string body = {};
  http::Headers headers = {};

  [[nodiscard]] json::value value() const;
  // A string inside: {"metadata", "resourceVersion"}; "" when it is not there.
  [[nodiscard]] std::string text(std::initializer_list<std::string_view> path) const;
};

struct Ask {
  http::Method method = http::Method::get;
  std::string target;
  std::string body = {};
  std::string content_type = {};  // of a body; empty: JSON, for a PATCH strategic
  std::string bearer = {};
  std::string user_agent = "kubelet/v1.32.4 (linux/amd64)";
  Duration limit = 20s;
};

[[nodiscard]] http::Request to_request(const Ask& ask);
[[nodiscard]] Answer to_answer(Result<http::Response> response);
// One request on a connection of its own; a port is one of 127.0.0.1.
Answer ask(const net::HostPort& at, const Ask& ask);
Answer ask(std::uint16_t port, const Ask& ask);
[[nodiscard]] Answer get(std::uint16_t port, const std::string& target);

// The string at a path inside a value, or other values as JSON; "" when it is not there.
[[nodiscard]] std::string text_in(const json::value& value,
                                  std::initializer_list<std::string_view> path);
// A kubeconfig for a server on this machine, with this token; empty: without credentials.
[[nodiscard]] std::string kubeconfig_for(std::uint16_t port, const std::string& name,
                                         const std::string& token = {});
// Shows the end of a log on standard error.
void print_end(const std::filesystem::path& file);

}  // namespace holdfast::test
