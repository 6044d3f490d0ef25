// The server's side of a SPDY/3.1 connection: each stream that the client opens is a Connection.
//
// A stream holds a limited number of bytes. When one is full, the whole session waits for its
// reader, as in Kubernetes' own implementation: SPDY's flow control is not used there.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "platform/http/message.h"
#include "platform/http/spdy/frames.h"
#include "platform/net/connection.h"

namespace holdfast::http::spdy {

namespace asio = boost::asio;

struct SessionLimits {
  FrameLimits frames = {};
  std::size_t streams = 64;                   // open at a time; more are refused
  std::size_t stream_bytes = 16UL * 1024;     // held in each direction of a stream
  Duration idle = std::chrono::hours(4);      // without a frame
  Duration stuck = std::chrono::minutes(10);  // that a stream's user may not read
};

// The client opened a stream. Closing its connection ends our side of it.
struct Stream {
  Headers headers;
  std::shared_ptr<net::Connection> bytes;
};

// Whether a stream is wanted. What takes it must not wait.
using OnStream = std::function<bool(Stream stream)>;

// Serves until the connection ends or breaks the protocol; then all streams are closed.
asio::awaitable<Status> serve(std::shared_ptr<net::Connection> connection, OnStream on_stream,
                              SessionLimits limits = {});

}  // namespace holdfast::http::spdy
