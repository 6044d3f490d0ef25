// Gathers answers of the API server that are not streamed on, piece by piece and within limits, so
// that a broken or hostile server cannot fill the memory.
//
// Threading: the loop's thread only. Outlives the calls.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "platform/http/message.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct UplinkAnswerLimits {
  std::size_t answer_bytes = 8UL << 20;      // of one body
  std::size_t in_flight_bytes = 12UL << 20;  // of all bodies that are being gathered
  std::size_t error_bytes = 1UL << 20;       // of a body that does not come as a stream: not 2xx
};

class UplinkAnswers {
 public:
  explicit UplinkAnswers(const UplinkAnswerLimits& limits);

  // Reads the stream of `response`, if it has one, into its body; the stream is gone then.
  // Errors: the stream's; timeout, at `deadline`; exhausted, by a limit.
  asio::awaitable<Result<http::Response>> gather(http::Response response, MonoTime deadline);

  // Of an error of gather(): answer_bytes was exceeded, so that asking again would not help.
  [[nodiscard]] bool is_too_large(const Error& error) const { return error.what == too_large_; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }

 private:
  asio::awaitable<Result<std::string>> read_all(std::shared_ptr<http::BodyStream> stream,
                                                std::size_t announced);
  [[nodiscard]] Status admit(std::size_t bytes) const;

  UplinkAnswerLimits limits_;
  std::string too_large_;  // what the error says
  std::size_t in_flight_ = 0;
};

}  // namespace holdfast::agent
