// One `kubectl exec`: joins a program that runs beside a container with its caller.
//
// The program is killed when the caller is gone or the container ends. Between the two, at most a
// few blocks are in memory: whoever does not read stops the other side.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "agent/node/kubelet/exec_process.h"
#include "agent/node/kubelet/exec_protocol.h"
#include "agent/node/kubelet/web_socket.h"

namespace holdfast::agent::node {

// The caller's side.
class ExecCaller {
 public:
  virtual ~ExecCaller() = default;
  // What the caller sends next. Errors: it is gone, or has broken the protocol.
  virtual asio::awaitable<Result<ExecInput>> read() = 0;
  // Sends output. Errors: it is gone.
  virtual asio::awaitable<Status> write(Channel channel, std::string bytes) = 0;
  // Sends the final Status and ends the session.
  virtual asio::awaitable<void> finish(std::string status_json) = 0;
  // Does what keeps the session alive, until it ends.
  virtual asio::awaitable<void> keep_alive() = 0;
  virtual void close() = 0;
};

// A caller that speaks one of `exec_protocols`.
[[nodiscard]] std::shared_ptr<ExecCaller> web_socket_caller(std::shared_ptr<WebSocket> socket);

// Runs the program until it ends or nobody needs it any more.
asio::awaitable<void> run_exec(std::shared_ptr<ExecCaller> caller, ExecOptions options,
                               proc::ProcessIdentity container);

}  // namespace holdfast::agent::node
