// Answers of an API server in pieces: limits on their size, number and time, and the shares of
// their owners.

#include "agent/client/answer_reader.h"

#include <gtest/gtest.h>

#include "agent/edge/cache/scope_reflectors.h"
#include "platform/http/stream_reset.h"
#include "platform/loop/clock.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

// Returns its pieces one by one and then waits; an empty piece is the end.
class Source final : public http::BodyStream {
 public:
  Source(asio::any_io_executor executor, std::vector<std::size_t> sizes)
      : sizes_(std::move(sizes)), changed_(std::move(executor)) {}

  asio::awaitable<Result<std::string>> next() override {
    while (at_ == sizes_.size() && !cancelled_) co_await changed_.wait();
    if (cancelled_) co_return fail(Errc::cancelled, "source");
    std::string piece(sizes_[at_++], 'a');
    co_return piece;
  }
  void cancel() override {
    cancelled_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 private:
  std::vector<std::size_t> sizes_;
  std::size_t at_ = 0;
  bool cancelled_ = false;
  loop::Event changed_;
};

// Returns its pieces with a pause before each, and then waits if there was no end.
class PacedSource final : public http::BodyStream {
 public:
  PacedSource(asio::any_io_executor executor, std::vector<std::size_t> sizes, Duration apart)
      : clock_(loop::clock_of(executor)),
        source_(std::move(executor), std::move(sizes)),
        apart_(apart) {}

  asio::awaitable<Result<std::string>> next() override {
    const MonoTime due = clock_.mono() + apart_;
    while (clock_.mono() < due && !source_.cancelled()) {
      co_await loop::sleep_until(std::min(due, clock_.mono() + 100ms));
    }
    co_return co_await source_.next();
  }
  void cancel() override { source_.cancel(); }

 private:
  const Clock& clock_;
  Source source_;
  Duration apart_;
};

struct ReaderBench {
  explicit ReaderBench(const AnswerLimits& limits) : reader(limits) {}

  asio::awaitable<void> read(std::vector<std::size_t> sizes, Requester whose,
                             std::string* outcome) {
    auto source = std::make_shared<Source>(time.executor(), std::move(sizes));
    http::Response response;
    response.stream = source;
    ReadRules rules{.whose = whose,
                    .deadline = time.clock().mono() + 10s,
                    .count = [this](std::size_t bytes) { counted += bytes; }};
    const auto read = co_await reader.read(std::move(response), std::move(rules));
    if (!read) {
      *outcome = to_string(read.error().code);
    } else if (read->body == ReadAnswer::Body::late) {
      EXPECT_TRUE(source->cancelled());
      *outcome = "timeout";
    } else if (read->body == ReadAnswer::Body::whole) {
      *outcome = "whole " + std::to_string(read->response.body.size());
    } else {
      EXPECT_TRUE(source->cancelled());
      *outcome = read->body == ReadAnswer::Body::too_large ? "too large" : "no room";
    }
  }
  std::string outcome_of(std::vector<std::size_t> sizes, Requester whose) {
    std::string outcome;
    time.complete(read(std::move(sizes), whose, &outcome));
    return outcome;
  }

  test::VirtualTime time;
  AnswerReader reader;
  std::size_t counted = 0;
};

constexpr AnswerLimits small{.answer_bytes = 1000,
                             .in_flight = {.bytes = 1800, .own = 1500, .foreign = 800}};

// Reads `sizes`, one piece each `apart`, and then the rest if it was left in the stream: "whole 5",
// or "3 then 2 4" with the sizes of the beginning and of the pieces that follow.
std::string passed_on(AnswerReader& reader, test::VirtualTime& time, std::vector<std::size_t> sizes,
                      Duration apart, const PassOn& pass_on) {
  std::string outcome;
  const auto read = [&]() -> asio::awaitable<void> {
    http::Response response{.status = 200};
    response.stream = std::make_shared<PacedSource>(time.executor(), std::move(sizes), apart);
    ReadRules rules{
        .whose = Requester::foreign, .deadline = time.clock().mono() + 10s, .pass_on = pass_on};
    auto answer = co_await reader.read(std::move(response), std::move(rules));
    if (!answer) {
      outcome = to_string(answer.error().code);
      co_return;
    }
    const bool is_left = answer->body == ReadAnswer::Body::unfinished;
    outcome = is_left ? std::to_string(answer->response.body.size()) + " then"
                      : "whole " + std::to_string(answer->response.body.size());
    auto finished = ReadAnswer::finish(*std::move(answer));
    if (!finished) {
      outcome = to_string(finished.error().code);
      co_return;
    }
    bool is_beginning = is_left;
    while (finished->stream) {
      const auto piece = co_await finished->stream->next();
      if (!piece) outcome += " " + std::string(to_string(piece.error().code));
      if (!piece || piece->empty()) break;
      if (!std::exchange(is_beginning, false)) outcome += " " + std::to_string(piece->size());
    }
  };
  time.complete(read());
  return outcome;
}

TEST(AnswerReader, PassesOnWhatIsLargeOrSlow) {
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  const struct {
    std::string_view what;
    std::vector<std::size_t> sizes;
    Duration apart;
    PassOn pass_on;
    std::string_view outcome;
  } rows[] = {
      {"small", {50, 50, 0}, 0s, {.bytes = 100}, "whole 100"},
      {"large", {50, 51, 30, 40, 0}, 0s, {.bytes = 100}, "101 then 30 40"},
      {"its last piece made it large", {50, 51, 0}, 0s, {.bytes = 100}, "101 then"},
      {"slow", {10, 10, 10, 0}, 600ms, {.bytes = 100}, "20 then 10"},
      {"as slow as a piece may be", {10, 10, 10, 0}, 9s, {.bytes = 100}, "10 then 10 10"},
      {"slower", {10, 10, 0}, 11s, {.bytes = 100}, "timeout"},
      {"it stops later", {101, 10}, 1s, {.bytes = 100}, "101 then 10 timeout"},
      {"above the limit for one", {500, 301, 7, 0}, 0s, {.bytes = never}, "801 then 7"},
      {"slow, but wanted whole", {9, 9, 9, 0}, 2s, {never, Duration::max()}, "whole 27"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    test::VirtualTime time;
    AnswerReader reader(
        {.answer_bytes = 1000, .in_flight = {.bytes = 1800, .own = 1500, .foreign = 800}});
    EXPECT_EQ(passed_on(reader, time, row.sizes, row.apart, row.pass_on), row.outcome);
    EXPECT_EQ(reader.in_flight(), 0u);
  }
}

TEST(AnswerReader, AllTogetherAreLimitedAndTimeIs) {
  ReaderBench bench(small);
  std::string slow;
  loop::Tasks tasks(bench.time.executor());
  tasks.spawn("slow", bench.read({1000}, Requester::own, &slow));
  bench.time.settle();
  EXPECT_EQ(bench.reader.in_flight(), 1000u);
  EXPECT_EQ(bench.outcome_of({400, 101, 0}, Requester::own), "no room");
  EXPECT_EQ(bench.reader.in_flight(), 1000u);
  bench.time.run(11s);
  EXPECT_EQ(slow, "timeout");
  EXPECT_EQ(bench.reader.in_flight(), 0u);
  EXPECT_EQ(bench.outcome_of({400, 401, 0}, Requester::own), "whole 801");
}

TEST(AnswerReader, ForeignCredentialsAlwaysLeaveRoomForOneAnswerToTheNode) {
  ReaderBench bench(small);
  std::vector<std::string> foreign(8);
  loop::Tasks tasks(bench.time.executor());
  for (std::string& outcome : foreign) {
    tasks.spawn("foreign", bench.read({200}, Requester::foreign, &outcome));
  }
  bench.time.settle();
  EXPECT_EQ(std::count(foreign.begin(), foreign.end(), "no room"), 4);
  EXPECT_EQ(bench.reader.in_flight(), 800u);
  EXPECT_EQ(bench.outcome_of({1000, 0}, Requester::own), "whole 1000");
  bench.time.run(11s);
  EXPECT_EQ(bench.outcome_of({500, 300, 0}, Requester::foreign), "whole 800");
  EXPECT_EQ(bench.outcome_of({500, 301, 0}, Requester::foreign), "too large");
}

TEST(AnswerReader, EveryPieceCountsWhateverBecomesOfTheAnswer) {
  ReaderBench bench(small);
  EXPECT_EQ(bench.outcome_of({600, 600, 0}, Requester::own), "too large");
  EXPECT_EQ(bench.counted, 1200u);
  std::string late;
  loop::Tasks tasks(bench.time.executor());
  tasks.spawn("late", bench.read({300}, Requester::own, &late));
  bench.time.run(11s);
  EXPECT_EQ(late, "timeout");
  EXPECT_EQ(bench.counted, 1500u);
}

// Returns a piece, and then fails.
class FailingSource final : public http::BodyStream {
 public:
  explicit FailingSource(Error error) : error_(std::move(error)) {}
  asio::awaitable<Result<std::string>> next() override {
    if (std::exchange(begun_, true)) co_return fail(error_);
    co_return std::string("begin");
  }
  void cancel() override {}

 private:
  Error error_;
  bool begun_ = false;
};

// Only a connection that failed is an error, which counts against the link.
TEST(AnswerReader, TellsABrokenBodyFromABrokenConnection) {
  const struct {
    const char* what;
    Error error;
    bool compressed;
    std::string problem;  // "": the error itself
  } rows[] = {
      {"reset by the server", http::reset_by_server(http::h2::Code::internal_error, true), false,
       "the body was broken off: the server ended the stream: INTERNAL_ERROR"},
      {"reset before its head", http::reset_by_server(http::h2::Code::cancel, false), false, ""},
      {"closed connection", {Errc::unavailable, "the peer closed the connection"}, true, ""},
      {"no gzip", {Errc::corrupt, "gzip: no"}, true, "the body is damaged: gzip: no"},
      {"no HTTP", {Errc::corrupt, "chunk size"}, false, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    test::VirtualTime time;
    AnswerReader reader{AnswerLimits{}};
    const auto read = [&reader, &row, &time]() -> asio::awaitable<void> {
      http::Response response;
      response.stream = std::make_shared<FailingSource>(row.error);
      if (row.compressed) response.wire_bytes = std::make_shared<std::size_t>(0);
      ReadRules rules{.deadline = time.clock().mono() + 10s};
      auto answer = co_await reader.read(std::move(response), std::move(rules));
      if (row.problem.empty()) {
        EXPECT_EQ(answer.error(), row.error);
        co_return;
      }
      EXPECT_EQ(answer.value().body, ReadAnswer::Body::broken);
      const auto finished = ReadAnswer::finish(*std::move(answer));
      EXPECT_EQ(finished.error(), (Error{Errc::corrupt, row.problem}));
    };
    time.complete(read());
    EXPECT_EQ(reader.in_flight(), 0u);
  }
}

TEST(AnswerReader, LimitsLeaveTheNodeOneAnswer) {
  for (const std::size_t answer : {1UL << 20, 8UL << 20, 64UL << 20}) {
    const AnswerLimits limits = answer_limits(answer);
    EXPECT_GE(limits.in_flight.foreign, answer / 4 * 3);
    EXPECT_GE(limits.in_flight.own, answer);
    EXPECT_GE(limits.in_flight.bytes, limits.in_flight.foreign + answer);
  }
}

TEST(HeldPool, ForeignListsAlwaysLeaveRoomForOneListOfTheNode) {
  for (const std::size_t list : {1UL << 20, 8UL << 20, 64UL << 20}) {
    BytePool pool(receive_pool_limits(list), "lists");
    EXPECT_TRUE(
        ByteReservation(pool, Requester::foreign).set(sync::watch::foreign_scope_bytes(list)));
    std::vector<std::unique_ptr<ByteReservation>> foreign;
    bool room = true;
    while (room) {
      foreign.push_back(std::make_unique<ByteReservation>(pool, Requester::foreign));
      room = foreign.back()->set(1UL << 20).has_value();
      ASSERT_LE(foreign.size(), 100u);
    }
    ByteReservation node(pool, Requester::own);
    EXPECT_TRUE(node.set(list));
    EXPECT_FALSE(foreign.back()->set(1)) << "their share is used up";
    EXPECT_TRUE(foreign.front()->set(10)) << "shrinking is always possible";
    foreign.clear();
    EXPECT_EQ(pool.bytes(), list);
  }
}

}  // namespace
}  // namespace holdfast::agent
