#include "agent/node/kubelet/port_forward.h"

#include <boost/asio/this_coro.hpp>
#include <map>
#include <utility>

#include "platform/http/tunnel.h"
#include "platform/log.h"
#include "platform/loop/clock.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"
#include "platform/text.h"

namespace holdfast::agent::node {
namespace {

using ConnectionPtr = std::shared_ptr<net::Connection>;

constexpr Duration connect_limit = std::chrono::seconds(10);
constexpr http::TunnelLimits forward_limits{.half_closed = std::chrono::minutes(1)};

// Streams whose partner has not been opened yet, by "requestID".
struct Pairing {
  std::map<std::string, http::spdy::Stream> errors;
  std::map<std::string, http::spdy::Stream> data;
};

// Joins the data stream with the port. Returns what failed.
asio::awaitable<std::string> forward(ConnectionPtr data, std::uint16_t port, FindPort find_port) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  const std::optional<std::string> address = find_port(port);
  if (!address) co_return "no process of the pod listens on this port of loopback";
  net::HostPort to{*address, port};
  auto connected = co_await net::connect(std::move(to), nullptr, clock.mono() + connect_limit);
  if (!connected) co_return connected.error().what;
  std::shared_ptr<net::Connection> target = *std::move(connected);
  co_await http::pump_both_ways(std::move(data), std::move(target), forward_limits);
  co_return std::string();
}

asio::awaitable<void> serve_pair(ConnectionPtr error, ConnectionPtr data, std::uint16_t port,
                                 FindPort find_port, std::string pod) {
  const std::string failed = co_await forward(data, port, std::move(find_port));
  if (!failed.empty()) {
    const std::string text =
        "error forwarding port " + std::to_string(port) + " to pod " + pod + ": " + failed;
    log_debug("port-forward failed", {{"error", text}});
    (void)co_await error->write(text);
  }
  // The caller reads both streams to their ends.
  error->shutdown_write();
  data->close();
}

}  // namespace

Result<ForwardStream> parse_forward_stream(const http::Headers& headers) {
  ForwardStream stream;
  const std::string_view type = headers.get("streamType");
  if (type != "error" && type != "data") {
    return fail(Errc::invalid, "streamType \"" + std::string(type) + "\" is not error or data");
  }
  stream.is_error = type == "error";
  const auto port = parse_int<std::uint16_t>(headers.get("port"));
  if (!port || *port == 0) {
    return fail(Errc::invalid,
                "port \"" + std::string(headers.get("port")) + "\" is not from 1 to 65535");
  }
  stream.port = *port;
  // Without the header, old clients open one pair at a time.
  stream.request = headers.get("requestID");
  return stream;
}

asio::awaitable<void> run_port_forward(ConnectionPtr connection, FindPort find_port,
                                       std::string pod) {
  const auto executor = co_await asio::this_coro::executor;
  loop::Tasks forwards(executor);
  Pairing pairing;
  const auto on_stream = [&pairing, &forwards, &find_port, &pod](http::spdy::Stream stream) {
    const auto parsed = parse_forward_stream(stream.headers);
    if (!parsed) return false;
    auto& own = parsed->is_error ? pairing.errors : pairing.data;
    auto& other = parsed->is_error ? pairing.data : pairing.errors;
    if (own.contains(parsed->request)) return false;
    const auto partner = other.find(parsed->request);
    if (partner == other.end()) {
      own[parsed->request] = std::move(stream);
      return true;
    }
    ConnectionPtr error = parsed->is_error ? stream.bytes : partner->second.bytes;
    ConnectionPtr data = parsed->is_error ? partner->second.bytes : stream.bytes;
    other.erase(partner);
    forwards.spawn("forward port",
                   serve_pair(std::move(error), std::move(data), parsed->port, find_port, pod));
    return true;
  };
  const Status ended = co_await http::spdy::serve(connection, on_stream);
  if (!ended) log_debug("port-forward ended", {{"error", ended.error()}});
  forwards.cancel();
  co_await forwards.join();
}

asio::awaitable<void> run_port_forward_in(std::shared_ptr<WebSocket> socket, FindPort find_port,
                                          std::string pod) {
  const auto executor = co_await asio::this_coro::executor;
  loop::Tasks pings(executor);
  pings.spawn("port-forward pings", socket->keep_alive());
  co_await run_port_forward(bytes_of(socket), std::move(find_port), std::move(pod));
  pings.cancel();
  co_await pings.join();
}

}  // namespace holdfast::agent::node
