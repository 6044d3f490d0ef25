// Reads answers of an API server that are not streamed on, piece by piece and within limits, so
// that a broken or hostile server cannot fill the memory.
//
// Threading: the loop's thread only. Outlives the calls.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "agent/client/byte_pool.h"
#include "platform/http/message.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct AnswerLimits {
  std::size_t answer_bytes = 8UL << 20;  // of one body
  // Of all bodies that are being read. What foreign credentials leave is enough for one answer to
  // the program's own request.
  BytePoolLimits in_flight = {.bytes = 14UL << 20, .own = 12UL << 20, .foreign = 6UL << 20};
  std::size_t error_bytes = 1UL << 20;  // of a body that does not come as a stream: not 2xx
};

// The limits for answers of up to `answer_bytes` to the program's own requests, of which there is
// always room for one; those to foreign credentials may be three quarters of that.
[[nodiscard]] AnswerLimits answer_limits(std::size_t answer_bytes);

// What has become of an answer.
struct ReadAnswer {
  enum class Body : std::uint8_t {
    whole,
    too_large,  // more than ever is possible: asking again would not help
    no_room,    // other answers take all of in_flight
  };
  http::Response response;  // without a stream; of a body that is not whole, the beginning
  Body body = Body::whole;
  std::string problem = {};  // of a body that is not whole

  // The response, if its body is whole. Errors: exhausted.
  [[nodiscard]] static Result<http::Response> whole(ReadAnswer answer);
};

class AnswerReader {
 public:
  // Told of the size of each piece of a body when it arrives, also if the answer then fails.
  using Count = std::function<void(std::size_t bytes)>;

  explicit AnswerReader(const AnswerLimits& limits);

  // Reads the stream of `response`, if it has one, into its body.
  // Errors: the stream's; timeout, at `deadline`.
  asio::awaitable<Result<ReadAnswer>> read(http::Response response, Requester whose,
                                           MonoTime deadline, Count count = {});

  [[nodiscard]] std::size_t in_flight() const { return pool_.bytes(); }
  // The bytes that are held of answers. What was read may be held on in it.
  [[nodiscard]] BytePool& pool() { return pool_; }

 private:
  asio::awaitable<Status> read_all(std::shared_ptr<http::BodyStream> stream, std::size_t most,
                                   HeldBytes& held, Count count, ReadAnswer& into);

  AnswerLimits limits_;
  BytePool pool_;
};

}  // namespace holdfast::agent
