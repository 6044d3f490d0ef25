// Reads the body of an API server's answer piece by piece, within limits per answer and for all
// answers together, so that a broken or hostile server cannot fill the memory.
//
// Threading: the loop's thread only. An AnswerReader must outlive the calls to read().

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
  // For all bodies that are being read. `bytes` less `foreign` always leaves room for one answer to
  // a request with the program's own credentials.
  BytePoolLimits in_flight = {.bytes = 14UL << 20, .own = 12UL << 20, .foreign = 6UL << 20};
  std::size_t error_bytes = 1UL << 20;  // of an answer that is not streamed (not 2xx)
};

// Limits for answers of up to `answer_bytes` bytes to requests with the program's own credentials;
// there is always room for one of these. Answers to foreign credentials get at least three quarters
// of that.
[[nodiscard]] AnswerLimits answer_limits(std::size_t answer_bytes);

// An answer whose body was read, completely or until a limit was reached.
struct ReadAnswer {
  enum class Body : std::uint8_t {
    whole,
    too_large,  // above the limit for one answer: a retry would not help
    no_room,    // other answers use up `in_flight`: a later retry may succeed
  };
  http::Response response;  // without a stream; an incomplete body holds only the beginning
  Body body = Body::whole;
  std::string problem = {};  // why the body is not whole; "" when it is

  // The response. Errors: exhausted, with `problem`, if its body is not whole.
  [[nodiscard]] static Result<http::Response> whole(ReadAnswer answer);
};

class AnswerReader {
 public:
  // Called with the size in bytes of each piece that arrives, also if reading fails later.
  using Count = std::function<void(std::size_t bytes)>;

  explicit AnswerReader(const AnswerLimits& limits);

  // Reads the stream of `response`, if it has one, into its body. An answer above a limit is not an
  // error here: see ReadAnswer::Body. Errors: the stream's; timeout at `deadline`.
  asio::awaitable<Result<ReadAnswer>> read(http::Response response, Requester whose,
                                           MonoTime deadline, Count count = {});

  // Bytes of all bodies that are being read now.
  [[nodiscard]] std::size_t in_flight() const { return pool_.bytes(); }
  // The pool that these bytes are counted in. Callers may count bytes of their own in it.
  [[nodiscard]] BytePool& pool() { return pool_; }

 private:
  asio::awaitable<Status> read_all(std::shared_ptr<http::BodyStream> stream, std::size_t most,
                                   ByteReservation& held, Count count, ReadAnswer& into);

  AnswerLimits limits_;
  BytePool pool_;
};

}  // namespace holdfast::agent
