// The control interface of a running `holdfast-lab up`: HTTP on a loopback address.
//
// GET  /v1/view       the view as JSON; ?form=text: as text, &colours=true with colours
// POST /v1/commands   a Request (request.h); answers {"done": ["cut edge-1", ...]}
//
// agent/lab/control/ decides who may use it. A request that is wrong changes nothing.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "agent/lab/control/local_service.h"
#include "agent/lab/up/request.h"
#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

// What the control interface can do.
class Operator {
 public:
  virtual ~Operator() = default;
  [[nodiscard]] virtual View view() const = 0;
  // Performs the request and returns what was done, a line for each node. Errors: invalid (the
  // request; nothing has changed), those of the cluster.
  virtual asio::awaitable<Result<std::vector<std::string>>> perform(Request request) = 0;
};

class Control {
 public:
  // `subject` outlives stop().
  Control(const asio::any_io_executor& executor, Operator& subject);

  // Errors: invalid (not a loopback address), unavailable (the port is in use).
  [[nodiscard]] Status listen(const std::string& address) {
    return service_.listen("--control", address);
  }
  [[nodiscard]] const std::string& address() const { return service_.address(); }
  asio::awaitable<void> stop(MonoTime deadline) { return service_.stop(deadline); }

  // The answer to one request, without a socket. `request` outlives the coroutine.
  asio::awaitable<http::Response> answer(const http::Request& request);

 private:
  asio::awaitable<http::Response> perform(std::string body);
  [[nodiscard]] http::Response view(const http::Request& request) const;

  Operator& subject_;
  LocalService service_;
};

}  // namespace holdfast::agent::lab::up
