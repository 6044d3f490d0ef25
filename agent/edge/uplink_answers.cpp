#include "agent/edge/uplink_answers.h"

#include <boost/asio/this_coro.hpp>

#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

// From here on, room for the largest body is reserved at once. That costs address space only, while
// growing step by step would hold the bytes twice.
constexpr std::size_t large = 256UL * 1024;

// Bytes that are in flight for as long as it lives.
class Flight {
 public:
  explicit Flight(std::size_t& total) : total_(total) {}
  ~Flight() { total_ -= bytes_; }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  void add(std::size_t bytes) {
    bytes_ += bytes;
    total_ += bytes;
  }

 private:
  std::size_t& total_;
  std::size_t bytes_ = 0;
};

}  // namespace

UplinkAnswers::UplinkAnswers(const UplinkAnswerLimits& limits)
    : limits_(limits),
      too_large_("the API server's answer has more than " + std::to_string(limits.answer_bytes) +
                 " bytes") {}

Status UplinkAnswers::admit(std::size_t bytes) const {
  if (bytes > limits_.answer_bytes) return fail(Errc::exhausted, too_large_);
  return {};
}

asio::awaitable<Result<std::string>> UplinkAnswers::read_all(
    std::shared_ptr<http::BodyStream> stream, std::size_t announced) {
  if (auto room = admit(announced); !room) co_return fail(room.error());
  std::string body;
  body.reserve(announced);
  Flight flight(in_flight_);
  for (;;) {
    auto piece = co_await stream->next();
    if (!piece) co_return fail(piece.error());
    if (piece->empty()) co_return body;
    const std::size_t size = body.size() + piece->size();
    if (auto room = admit(size); !room) co_return fail(room.error());
    if (in_flight_ + piece->size() > limits_.in_flight_bytes) {
      co_return fail(Errc::exhausted,
                     "answers of the API server that are being received have "
                     "more than " +
                         std::to_string(limits_.in_flight_bytes) + " bytes");
    }
    flight.add(piece->size());
    if (body.empty() && announced == 0) {
      body = *std::move(piece);
      continue;
    }
    if (size > large && body.capacity() < size) body.reserve(limits_.answer_bytes);
    body += *piece;
  }
}

asio::awaitable<Result<http::Response>> UplinkAnswers::gather(http::Response response,
                                                              MonoTime deadline) {
  if (!response.stream) co_return response;
  const auto stream = std::exchange(response.stream, nullptr);
  const auto announced = parse_int<std::size_t>(response.headers.get("content-length")).value_or(0);
  loop::Timer limit(co_await asio::this_coro::executor, deadline);
  limit.async_wait([stream](const boost::system::error_code& ec) {
    if (!ec) stream->cancel();
  });
  auto body = co_await read_all(stream, announced);
  const bool late = limit.cancel() == 0;
  if (!body) stream->cancel();
  if (!body && late) co_return fail(Errc::timeout, "deadline passed while the answer came");
  if (!body) co_return fail(body.error());
  response.body = *std::move(body);
  co_return response;
}

}  // namespace holdfast::agent
