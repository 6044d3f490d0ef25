// Cancels a stream whose next piece does not arrive in time.
//
// A server may send the answers that are under way one after another, as Go's HTTP/2 server does
// with streams of equal weight. Then one of them is silent although its server is not, and on a
// slow path for as long as the others take.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "platform/http/message.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// How long a stream may be silent while its server sends others. Without an end, a stream that its
// server has forgotten would hang for as long as the server has anything else to send.
inline constexpr Duration busy_silence_max = std::chrono::minutes(10);

// The bytes of all bodies that the server of a stream has sent so far.
using ReceivedInAll = std::function<std::uint64_t()>;

class StreamLimit {
 public:
  // An empty `received` stands for a server of which only this stream is known.
  StreamLimit(const asio::any_io_executor& executor, std::shared_ptr<http::BodyStream> stream,
              ReceivedInAll received = {});
  // Does not cancel the stream.
  ~StreamLimit();
  StreamLimit(const StreamLimit&) = delete;
  StreamLimit& operator=(const StreamLimit&) = delete;

  // Cancels the stream at `due`. Replaces an earlier limit, as silence() does.
  void deadline(MonoTime due);
  // Cancels the stream after `silence`, which is positive. While the server is busy with other
  // answers (sync::autonomy::is_busy), it is given the same time again, up to `busy_silence_max`
  // in all.
  void silence(Duration silence);
  // Ends the limit. Returns whether it has cancelled the stream.
  bool stop();

 private:
  class Wait;
  std::shared_ptr<Wait> wait_;
};

}  // namespace holdfast::agent
