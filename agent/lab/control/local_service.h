// HTTP on a loopback address for the commands that control a running process of holdfast-lab, and
// the client of these commands. Bodies are JSON; an error is {"error": "..."}.
//
// Only root and the user that runs the program are served, and no web page: requests must name the
// listener in Host and have no Origin.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "platform/http/server.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {

namespace asio = boost::asio;

// Whether a request comes from this program's user, and not from a web page. Errors: denied.
[[nodiscard]] Status admit_local(const http::Request& request);

[[nodiscard]] http::Response json_answer(int status, const sync::json::object& body);
[[nodiscard]] http::Response json_problem(int status, std::string_view message);

class LocalService {
 public:
  // `body_bytes` limits the body of a request.
  LocalService(asio::any_io_executor executor, http::Handler handler, std::size_t body_bytes);

  // `flag` names the setting in errors: "--control". Errors: invalid (not a loopback address),
  // unavailable (the port is in use).
  [[nodiscard]] Status listen(const std::string& flag, const std::string& address);
  asio::awaitable<void> stop(MonoTime deadline) { return server_.stop(deadline); }
  // The address with the real port.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  asio::any_io_executor executor_;
  std::string address_;
  http::Server server_;
};

// Where commands are sent: the address, and the program and flag for errors.
struct LocalServer {
  std::string program;  // "holdfast-lab nodes"
  std::string flag;     // "--control"
  std::string address;
};

// Sends a request with a JSON body, or GET if `body` is empty, and returns the body of the answer.
// Errors: invalid (the address), unavailable (nothing listens there), those of the answer: denied
// for 403, else invalid.
asio::awaitable<Result<std::string>> call_local(LocalServer server, std::string target,
                                                std::string body, MonoTime deadline);

}  // namespace holdfast::agent::lab
