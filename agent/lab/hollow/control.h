// The control interface of running hollow nodes: HTTP on a loopback address.
//
// GET  /v1/nodes     all nodes: name, zone, state, silent (seconds), pods
// POST /v1/silence   {"names": [...], "selector": "zone=a"}: these nodes stop all requests
// POST /v1/resume    the same nodes continue
//
// agent/lab/control/ decides who may use it. If a name or a selector matches no node, nothing
// changes.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "agent/lab/control/local_service.h"
#include "agent/lab/hollow/nodes.h"

namespace holdfast::agent::hollow {

struct Choice {
  std::vector<std::string> names = {};
  std::string selector = {};  // of labels; "": none
};

class ControlServer {
 public:
  // `nodes` and `clock` outlive stop().
  ControlServer(const asio::any_io_executor& executor, HollowNodes& nodes, const Clock& clock);

  // Errors: invalid (not a loopback address), unavailable (the port is in use).
  [[nodiscard]] Status listen(const std::string& address) {
    return service_.listen("--control", address);
  }
  asio::awaitable<void> stop(MonoTime deadline) { return service_.stop(deadline); }
  // The address with the real port.
  [[nodiscard]] const std::string& address() const { return service_.address(); }

  // The answer to one request, without a socket; for the server and for tests.
  [[nodiscard]] http::Response answer(const http::Request& request);

 private:
  asio::awaitable<http::Response> handle(const http::Request& request);
  [[nodiscard]] Result<std::vector<NodeId>> chosen(const Choice& choice) const;
  [[nodiscard]] http::Response list();
  [[nodiscard]] http::Response change(const http::Request& request, bool silence);

  HollowNodes& nodes_;
  const Clock& clock_;
  lab::LocalService service_;
};

// Sends a command to the process that listens on `address`, and returns the text to print. `action`
// is "silence", "resume" or "list". Errors: invalid (the command), unavailable (nothing listens
// there), those of the answer.
asio::awaitable<Result<std::string>> send_command(std::string address, std::string action,
                                                  Choice choice, const Clock& clock);

}  // namespace holdfast::agent::hollow
