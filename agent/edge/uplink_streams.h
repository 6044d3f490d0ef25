// The streamed answers of an uplink while they are read, by server: those of a server that is taken
// out of rotation are ended, because they may hang for ever.
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
  // Told of every piece that came: its bytes. Called only while the stream is read, by its reader.
  using Counter = std::function<void(std::size_t bytes)>;

  // The same stream, to be read from now on in the place of `stream`.
  [[nodiscard]] std::shared_ptr<http::BodyStream> add(std::shared_ptr<http::BodyStream> stream,
                                                      std::size_t server, Counter counter);

  // Whoever reads an answer of `server` gets `unavailable`, now or at his next read.
  void sever(std::size_t server);

 private:
  class Guarded;
  std::vector<std::weak_ptr<Guarded>> open_;
};

}  // namespace holdfast::agent
