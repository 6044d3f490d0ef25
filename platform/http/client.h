// An HTTP/1.1 client for one server: a pool of kept connections, deadlines, streams, tunnels.
//
// Threading: the loop's thread only. The client must outlive the calls, not the streams.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/net/transport.h"

namespace holdfast::http {

struct Endpoint {
  net::HostPort at;
  std::shared_ptr<const tls::Context> tls = {};  // null: plain HTTP
};

struct ClientLimits {
  ReaderLimits reader{.header_bytes = 64 * 1024, .body_bytes = 64 * 1024 * 1024};
  std::size_t idle_connections = 4;
  Duration idle = std::chrono::seconds(60);  // shorter than any server of ours keeps them
};

// Bytes of HTTP, without TLS's own.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

class Client {
 public:
  Client(Endpoint endpoint, ClientLimits limits = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends `request` and reads the whole answer. Any HTTP status is an answer, not an error.
  // Errors: timeout at `deadline` (the effect is unknown), unavailable (could not reach, or broken
  // off), denied (TLS), corrupt (not HTTP), exhausted (an answer over the limit).
  asio::awaitable<Result<Response>> send(Request request, MonoTime deadline);

  // The same, but returns once the headers are there: the body of a 2xx comes in Response::stream,
  // a 101 in Response::tunnel. The deadline ends with the headers.
  asio::awaitable<Result<Response>> open(Request request, MonoTime deadline);

  // Closes kept connections: the way they were made is no longer to be trusted.
  void forget_connections();

  [[nodiscard]] const Endpoint& endpoint() const;
  [[nodiscard]] Traffic traffic() const;

  struct Pool;  // defined in client.cpp

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace holdfast::http
