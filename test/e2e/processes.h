// Real programs as child processes, and plain HTTP requests to them, for tests.
//
// The destructor of a Process kills it. Every wait is for a condition and has a deadline.

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
#include "sync/wire/json.h"
#include "test/support/free_port.h"

namespace holdfast::test {

using namespace std::chrono_literals;
namespace json = sync::json;

// Calls `done` every few milliseconds until it returns true. False at the deadline.
[[nodiscard]] bool eventually(Duration limit, const std::function<bool()>& done);
[[nodiscard]] MonoTime now();

// A child process: a program of ours, by its name in the build's bin/, or any other one.
class Process {
 public:
  Process(std::vector<std::string> argv, std::string log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Sends SIGKILL and reaps the process.
  void kill();
  // Waits for the end and returns the wait status, or nullopt at `limit`; 0 if it was already
  // reaped.
  [[nodiscard]] std::optional<int> wait(Duration limit);
  [[nodiscard]] pid_t pid() const { return identity_.pid; }

 private:
  proc::ProcessIdentity identity_;
  bool reaped_ = false;
};

struct Answer {
  int status = 0;  // 0: no answer came; `body` contains the error
  std::string body = {};
  http::Headers headers = {};

  [[nodiscard]] json::value value() const;
  // The string at a path such as {"metadata", "resourceVersion"}; "" if there is none.
  [[nodiscard]] std::string text(std::initializer_list<std::string_view> path) const;
};

struct Ask {
  http::Method method = http::Method::get;
  std::string target;
  std::string body = {};
  std::string content_type = {};  // of a body; empty: JSON, and a strategic merge patch for PATCH
  std::string bearer = {};
  std::string user_agent = "kubelet/v1.32.4 (linux/amd64)";
  Duration limit = 20s;
  std::vector<http::Header> headers = {};  // more headers; they replace those of the same name
};

[[nodiscard]] http::Request to_request(const Ask& ask);
[[nodiscard]] Answer to_answer(Result<http::Response> response);
// One request on a new connection; a port means 127.0.0.1.
Answer ask(const net::HostPort& at, const Ask& ask);
Answer ask(std::uint16_t port, const Ask& ask);
[[nodiscard]] Answer get(std::uint16_t port, const std::string& target);

// The string at a path in a value; other types as JSON; "" if there is nothing at the path.
[[nodiscard]] std::string text_in(const json::value& value,
                                  std::initializer_list<std::string_view> path);
// A kubeconfig for a server on this machine with this token; an empty token means no credentials.
[[nodiscard]] std::string kubeconfig_for(std::uint16_t port, const std::string& name,
                                         const std::string& token = {});
// The command lines of all processes that contain `text`, for example the path of a folder.
[[nodiscard]] std::vector<std::string> processes_naming(const std::string& text);
// Prints the end of a log file on standard error.
void print_end(const std::filesystem::path& file);

}  // namespace holdfast::test
