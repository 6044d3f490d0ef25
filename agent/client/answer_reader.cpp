#include "agent/client/answer_reader.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "platform/check.h"
#include "platform/http/inflate.h"
#include "platform/http/stream_reset.h"
#include "platform/loop/clock.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

// A body that grows beyond this size gets room for the largest allowed body at once. The reserved
// room costs address space only; growing step by step would hold the bytes twice.
constexpr std::size_t large = 256UL * 1024;
constexpr std::size_t piece_bytes = 64UL * 1024;

// How long the body may be silent; nothing if the deadline is all that counts. A body that is
// passed on when its next piece arrives may wait for it as long as for all that follow.
std::optional<Duration> silence_of(const ReadRules& rules, MonoTime now) {
  if (rules.silence) return rules.silence;
  const Duration left = rules.deadline - now;
  if (rules.pass_on && rules.pass_on->time < left) return left;
  return std::nullopt;
}

// Bytes of a pool that may outlive the pool's owner.
struct HeldBytes {
  HeldBytes(std::shared_ptr<BytePool> from, Requester requester)
      : pool(std::move(from)), bytes(*pool, requester) {}

  std::shared_ptr<BytePool> pool;
  ByteReservation bytes;
};

// An answer that is passed on while it arrives: what was read of it, and then the rest.
class PassedOn final : public http::BodyStream {
 public:
  explicit PassedOn(ReadAnswer answer) : answer_(std::move(answer)) {}

  asio::awaitable<Result<std::string>> next() override {
    if (!answer_.response.body.empty()) co_return next_of_beginning();
    const auto rest = answer_.response.stream;
    const auto executor = co_await asio::this_coro::executor;
    const Clock& clock = loop::clock_of(executor);
    const MonoTime began = clock.mono();
    StreamLimit limit(executor, rest, answer_.received);
    limit.silence(passed_on_silence);
    auto piece = co_await rest->next();
    if (limit.stop() && !piece) {
      co_return fail(Errc::timeout,
                     "nothing more arrived within " + format_duration(clock.mono() - began));
    }
    co_return piece;
  }
  void cancel() override { answer_.response.stream->cancel(); }

 private:
  std::string next_of_beginning() {
    std::string& body = answer_.response.body;
    std::string piece = body.substr(taken_, piece_bytes);
    taken_ += piece.size();
    if (taken_ < body.size()) return piece;
    body.clear();
    body.shrink_to_fit();
    answer_.beginning_held.reset();
    return piece;
  }

  ReadAnswer answer_;
  std::size_t taken_ = 0;  // of the beginning
};

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

Result<http::Response> ReadAnswer::finish(ReadAnswer answer) {
  switch (answer.body) {
    case Body::whole:
      return std::move(answer.response);
    case Body::unfinished: {
      http::Response passed{.status = answer.response.status, .headers = answer.response.headers};
      passed.stream = std::make_shared<PassedOn>(std::move(answer));
      return passed;
    }
    case Body::late:
      return fail(Errc::timeout, std::move(answer.problem));
    case Body::broken:
      return fail(Errc::corrupt, std::move(answer.problem));
    case Body::too_large:
    case Body::no_room:
      return fail(Errc::exhausted, std::move(answer.problem));
  }
  UNREACHABLE();
}

AnswerReader::AnswerReader(const AnswerLimits& limits)
    : limits_(limits),
      pool_(std::make_shared<BytePool>(limits.in_flight,
                                       "answers of the API server that are being read")),
      passed_on_(std::make_shared<BytePool>(
          limits.passed_on, "answers of the API server that are being passed on")) {}

// The reading of one body.
class AnswerReader::Reading {
 public:
  Reading(AnswerReader& reader, const ReadRules& rules, const asio::any_io_executor& executor,
          std::shared_ptr<http::BodyStream> stream, ReadAnswer& into)
      : rules_(rules),
        clock_(loop::clock_of(executor)),
        began_(clock_.mono()),
        silence_(silence_of(rules, began_)),
        most_(rules.whose == Requester::foreign
                  ? std::min(reader.limits_.answer_bytes, reader.limits_.in_flight.foreign)
                  : reader.limits_.answer_bytes),
        reader_(reader),
        held_(std::make_shared<HeldBytes>(reader.pool_, rules.whose)),
        limit_(executor, stream, rules.received),
        wire_(into.response),
        stream_(std::move(stream)),
        into_(into) {}

  asio::awaitable<Status> read() {
    if (silence_) {
      limit_.silence(*silence_);
    } else {
      limit_.deadline(rules_.deadline);
    }
    const Status read = co_await read_all();
    const bool late = limit_.stop();
    if (read && into_.body == ReadAnswer::Body::whole) co_return read;
    if (read && into_.body == ReadAnswer::Body::unfinished && !late && leave_rest()) co_return read;
    stream_->cancel();
    if (!late) co_return read ? read : judged(read.error());
    into_.body = ReadAnswer::Body::late;
    into_.problem = "deadline passed while the answer was read";
    co_return Status();
  }

 private:
  // Tells a broken body from a broken connection.
  Status judged(const Error& error) {
    const bool broken_off = http::is_broken_off(error);
    const bool damaged = into_.response.wire_bytes && error.code == Errc::corrupt;
    if (!broken_off && !damaged) return fail(error);
    const std::string_view what =
        broken_off ? "the body was broken off: " : "the body is damaged: ";
    refuse(ReadAnswer::Body::broken, std::string(what).append(error.what));
    return {};
  }

  asio::awaitable<Status> read_all() {
    std::string& body = into_.response.body;
    const std::string_view length = into_.response.headers.get("content-length");
    const auto announced = parse_int<std::size_t>(length).value_or(0);
    if (announced > most_ && !rules_.pass_on) {
      refuse_large();
      co_return Status();
    }
    body.clear();
    body.reserve(std::min({announced, most_, rules_.pass_on ? rules_.pass_on->bytes : most_}));
    while (into_.body == ReadAnswer::Body::whole) {
      auto piece = co_await stream_->next();
      const std::size_t arrived = wire_.arrived(piece ? piece->size() : 0);
      if (rules_.count && arrived > 0) rules_.count(arrived);
      if (!piece) co_return fail(piece.error());
      if (piece->empty()) co_return Status();
      if (rules_.longest && clock_.mono() - began_ > *rules_.longest) {
        refuse(ReadAnswer::Body::late,
               "the answer took longer than " + format_duration(*rules_.longest));
        co_return Status();
      }
      take(*std::move(piece), announced == 0);
      if (silence_) limit_.silence(*silence_);
    }
    co_return Status();
  }

  // Leaves the rest in its stream. Returns false if there is no room for that.
  bool leave_rest() {
    const auto rest = std::make_shared<HeldBytes>(reader_.passed_on_, rules_.whose);
    if (auto room = rest->bytes.set(reader_.limits_.passed_on_each); !room) {
      refuse(ReadAnswer::Body::no_room, room.error().what);
      return false;
    }
    into_.response.stream = stream_;
    into_.beginning_held = std::move(held_);
    into_.rest_held = rest;
    into_.received = rules_.received;
    return true;
  }

  void take(std::string piece, bool may_move) {
    std::string& body = into_.response.body;
    const std::size_t size = body.size() + piece.size();
    const Status room = size > most_ ? fail(Errc::exhausted, "") : held_->bytes.set(size);
    if (!room && !rules_.pass_on) {
      if (size > most_) return refuse_large();
      return refuse(ReadAnswer::Body::no_room, room.error().what);
    }
    if (body.empty() && may_move) {
      body = std::move(piece);
    } else {
      if (room && size > large && body.capacity() < size) body.reserve(most_);
      body += piece;
    }
    const bool passes = rules_.pass_on && (size > rules_.pass_on->bytes ||
                                           clock_.mono() - began_ >= rules_.pass_on->time);
    if (!room || passes) into_.body = ReadAnswer::Body::unfinished;
  }

  void refuse(ReadAnswer::Body why, std::string problem) {
    into_.body = why;
    into_.problem = std::move(problem);
  }
  void refuse_large() {
    refuse(ReadAnswer::Body::too_large,
           "the API server's answer has more than " + std::to_string(most_) + " bytes");
  }

  const ReadRules& rules_;
  const Clock& clock_;
  MonoTime began_;
  std::optional<Duration> silence_;
  std::size_t most_;
  AnswerReader& reader_;
  std::shared_ptr<HeldBytes> held_;
  StreamLimit limit_;
  http::WireBytes wire_;
  std::shared_ptr<http::BodyStream> stream_;
  ReadAnswer& into_;
};

asio::awaitable<Result<ReadAnswer>> AnswerReader::read(http::Response response, ReadRules rules) {
  ReadAnswer answer{.response = std::move(response)};
  if (!answer.response.stream) co_return answer;
  auto stream = std::exchange(answer.response.stream, nullptr);
  const auto executor = co_await asio::this_coro::executor;
  Reading reading(*this, rules, executor, std::move(stream), answer);
  const Status read = co_await reading.read();
  if (!read) co_return fail(read.error());
  co_return answer;
}

}  // namespace holdfast::agent
