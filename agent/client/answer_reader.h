// Reads the body of an API server's answer piece by piece, within limits per answer and for all
// answers together, so that a broken or hostile server cannot fill the memory.
//
// Threading: the loop's thread only. An AnswerReader must outlive the calls to read(), but not the
// answers.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/client/byte_pool.h"
#include "agent/client/stream_limit.h"
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
  // For all bodies that are passed on while they arrive, until their end; each counts with
  // `passed_on_each`, which is what a connection buffers of it.
  BytePoolLimits passed_on = {.bytes = 8UL << 20, .own = 8UL << 20, .foreign = 4UL << 20};
  std::size_t passed_on_each = 256UL << 10;
};

// Limits for answers of up to `answer_bytes` bytes to requests with the program's own credentials;
// there is always room for one of these. Answers to foreign credentials get at least three quarters
// of that.
[[nodiscard]] AnswerLimits answer_limits(std::size_t answer_bytes);

// When the rest of a body is left in its stream, so that the answer can be passed on while it
// arrives. It is also left there where it would be above a limit.
struct PassOn {
  std::size_t bytes = 64UL << 10;           // when more has arrived
  Duration time = std::chrono::seconds(1);  // or when a piece arrives after this time
};
// How long the rest of a body that is passed on may be silent; while its server is busy with other
// answers, busy_silence_max.
inline constexpr Duration passed_on_silence = std::chrono::seconds(10);

// How one body is read.
struct ReadRules {
  // Called with the size in bytes on the wire of each piece that arrives, also if reading fails
  // later.
  using Count = std::function<void(std::size_t bytes)>;

  Requester whose = Requester::own;
  MonoTime deadline;
  std::optional<Duration> silence = {};  // limits each piece, instead of `deadline`
  std::optional<Duration> longest = {};  // limits the whole; looked at with each piece
  std::optional<PassOn> pass_on = {};
  Count count = {};
  ReceivedInAll received = {};  // so that a stream is not silent while its server sends others
};

// An answer whose body was read, completely or until a limit was reached.
struct ReadAnswer {
  enum class Body : std::uint8_t {
    whole,
    unfinished,  // `response` has the beginning as its body, and the rest as its stream
    too_large,   // above the limit for one answer: a retry would not help
    no_room,     // other answers use up `in_flight`: a later retry may succeed
    late,        // a limit of time has passed; the API server has answered, but not everything
    broken,      // the API server has answered, but broke off the body, or it is no gzip
  };
  // Without a stream, unless it is unfinished; an incomplete body holds only the beginning.
  http::Response response;
  Body body = Body::whole;
  std::string problem = {};  // why the body is not whole; "" when it is
  // The bytes that an unfinished answer holds: its beginning, and what is buffered of the rest.
  std::shared_ptr<void> beginning_held = {};
  std::shared_ptr<void> rest_held = {};
  ReceivedInAll received = {};  // for the limit of the rest

  // The response; if it is unfinished, with a stream of the whole body. Errors, with `problem`:
  // timeout, if the body is late; exhausted, if it is above a limit; corrupt, if it is broken.
  [[nodiscard]] static Result<http::Response> finish(ReadAnswer answer);
};

class AnswerReader {
 public:
  explicit AnswerReader(const AnswerLimits& limits);

  // Reads the stream of `response`, if it has one, into its body. An answer that is above a limit
  // or broken is not an error here: see ReadAnswer::Body. Errors: the stream's, if its connection
  // failed.
  asio::awaitable<Result<ReadAnswer>> read(http::Response response, ReadRules rules);

  // Bytes of all bodies that are being read now.
  [[nodiscard]] std::size_t in_flight() const { return pool_->bytes(); }
  // The pool that these bytes are counted in. Callers may count bytes of their own in it.
  [[nodiscard]] BytePool& pool() { return *pool_; }

 private:
  class Reading;

  AnswerLimits limits_;
  std::shared_ptr<BytePool> pool_;
  std::shared_ptr<BytePool> passed_on_;
};

}  // namespace holdfast::agent
