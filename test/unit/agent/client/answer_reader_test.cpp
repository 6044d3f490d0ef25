// Answers of an API server in pieces: limits on their size, number and time, and the shares of
// their owners.

#include "agent/client/answer_reader.h"

#include <gtest/gtest.h>

#include "agent/edge/cache/scope_reflectors.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
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

struct ReaderBench {
  explicit ReaderBench(const AnswerLimits& limits) : reader(limits) {}

  asio::awaitable<void> read(std::vector<std::size_t> sizes, Requester whose,
                             std::string* outcome) {
    auto source = std::make_shared<Source>(time.executor(), std::move(sizes));
    http::Response response;
    response.stream = source;
    const MonoTime deadline = time.clock().mono() + 10s;
    const AnswerReader::Count count = [this](std::size_t bytes) { counted += bytes; };
    const auto read = co_await reader.read(std::move(response), whose, deadline, count);
    if (!read) {
      *outcome = to_string(read.error().code);
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
