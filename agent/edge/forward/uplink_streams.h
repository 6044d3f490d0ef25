// Tracks the streamed answers of the uplink by server, so that those of a server that is taken out
// of rotation can be ended. Otherwise they may hang for ever.
//
// Threading: the loop's thread only. Readers may outlive this.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "platform/http/message.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class UplinkStreams {
 public:
  // Called with the bytes on the wire of every piece that was read, by the stream's reader.
  using Counter = std::function<void(std::size_t bytes)>;

  // Tracks the stream of `response`, and replaces it by the one to read instead.
  void add(http::Response& response, std::size_t server, Counter counter);

  // Ends all streams of `server`: their readers get `unavailable` from the current or next read.
  void sever(std::size_t server);

 private:
  class Guarded;
  std::vector<std::weak_ptr<Guarded>> open_;
};

}  // namespace holdfast::agent
