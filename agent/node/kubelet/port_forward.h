// One `kubectl port-forward`: joins connections of the caller's machine with ports of a pod.
//
// For each connection the caller opens two streams that have the same "requestID": one of the type
// "error", on which it is told what failed, and one of the type "data".
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/node/kubelet/web_socket.h"
#include "platform/http/spdy/session.h"
#include "platform/net/connection.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

inline constexpr std::string_view port_forward_protocol = "portforward.k8s.io";
// The same in the messages of a WebSocket.
inline constexpr std::string_view port_forward_tunnel = "SPDY/3.1+portforward.k8s.io";

// The role of a stream in a port-forward, by its headers.
struct ForwardStream {
  bool is_error = false;  // else it carries data
  std::uint16_t port = 0;
  std::string request;

  bool operator==(const ForwardStream&) const = default;
};

// Errors: invalid, naming the header.
[[nodiscard]] Result<ForwardStream> parse_forward_stream(const http::Headers& headers);

// The address at which the pod listens on a port; nothing if it does not.
using FindPort = std::function<std::optional<std::string>(std::uint16_t port)>;

// Serves until the caller is gone. `pod` is for messages: "NAMESPACE/NAME".
asio::awaitable<void> run_port_forward(std::shared_ptr<net::Connection> connection,
                                       FindPort find_port, std::string pod);

// The same in the messages of a WebSocket.
asio::awaitable<void> run_port_forward_in(std::shared_ptr<WebSocket> socket, FindPort find_port,
                                          std::string pod);

}  // namespace holdfast::agent::node
