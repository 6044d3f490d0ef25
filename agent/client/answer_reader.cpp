#include "agent/client/answer_reader.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

// A body that grows beyond this size gets room for the largest allowed body at once. The reserved
// room costs address space only; growing step by step would hold the bytes twice.
constexpr std::size_t large = 256UL * 1024;

void refuse_large(ReadAnswer& answer, std::size_t most) {
  answer.body = ReadAnswer::Body::too_large;
  answer.problem = "the API server's answer has more than " + std::to_string(most) + " bytes";
}

}  // namespace

AnswerLimits answer_limits(std::size_t answer_bytes) {
  AnswerLimits made;
  BytePoolLimits& all = made.in_flight;
  made.answer_bytes = answer_bytes;
  all.own = std::max(all.own, answer_bytes);
  all.foreign = std::max(all.foreign, answer_bytes / 4 * 3);
  all.bytes = std::max(all.bytes, all.foreign + answer_bytes);
  return made;
}

Result<http::Response> ReadAnswer::whole(ReadAnswer answer) {
  if (answer.body == Body::whole) return std::move(answer.response);
  return fail(Errc::exhausted, std::move(answer.problem));
}

AnswerReader::AnswerReader(const AnswerLimits& limits)
    : limits_(limits), pool_(limits.in_flight, "answers of the API server that are being read") {}

asio::awaitable<Status> AnswerReader::read_all(std::shared_ptr<http::BodyStream> stream,
                                               std::size_t most, ByteReservation& held, Count count,
                                               ReadAnswer& into) {
  std::string& body = into.response.body;
  const std::string_view length = into.response.headers.get("content-length");
  const auto announced = parse_int<std::size_t>(length).value_or(0);
  if (announced > most) {
    refuse_large(into, most);
    co_return Status();
  }
  body.clear();
  body.reserve(announced);
  for (;;) {
    auto piece = co_await stream->next();
    if (!piece) co_return fail(piece.error());
    if (piece->empty()) co_return Status();
    if (count) count(piece->size());
    const std::size_t size = body.size() + piece->size();
    if (size > most) {
      refuse_large(into, most);
      co_return Status();
    }
    if (auto room = held.set(size); !room) {
      into.body = ReadAnswer::Body::no_room;
      into.problem = room.error().what;
      co_return Status();
    }
    if (body.empty() && announced == 0) {
      body = *std::move(piece);
      continue;
    }
    if (size > large && body.capacity() < size) body.reserve(most);
    body += *piece;
  }
}

asio::awaitable<Result<ReadAnswer>> AnswerReader::read(http::Response response, Requester whose,
                                                       MonoTime deadline, Count count) {
  ReadAnswer answer{.response = std::move(response)};
  if (!answer.response.stream) co_return answer;
  const auto stream = std::exchange(answer.response.stream, nullptr);
  loop::Timer limit(co_await asio::this_coro::executor, deadline);
  limit.async_wait([stream](const boost::system::error_code& ec) {
    if (!ec) stream->cancel();
  });
  const bool is_foreign = whose == Requester::foreign;
  const std::size_t most =
      is_foreign ? std::min(limits_.answer_bytes, limits_.in_flight.foreign) : limits_.answer_bytes;
  ByteReservation held(pool_, whose);
  const Status read = co_await read_all(stream, most, held, std::move(count), answer);
  const bool late = limit.cancel() == 0;
  if (!read || answer.body != ReadAnswer::Body::whole) stream->cancel();
  if (!read && late) co_return fail(Errc::timeout, "deadline passed while the answer was read");
  if (!read) co_return fail(read.error());
  co_return answer;
}

}  // namespace holdfast::agent
