// When a stream is cancelled that does not move, while its server is silent and while it is not.

#include "agent/client/stream_limit.h"

#include <gtest/gtest.h>

#include <optional>

#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

class SilentStream final : public http::BodyStream {
 public:
  explicit SilentStream(const Clock& clock) : clock_(clock) {}

  asio::awaitable<Result<std::string>> next() override {
    co_return fail(Errc::cancelled, "silent");
  }
  void cancel() override { cancelled_at = clock_.mono(); }

  std::optional<MonoTime> cancelled_at;

 private:
  const Clock& clock_;
};

// The server sends `bytes_per_s` of other answers for the first `busy` of the silence.
struct LimitBench {
  LimitBench(std::int64_t bytes_per_s, Duration busy)
      : limit(time.executor(), stream, [this, bytes_per_s, busy] {
          const Duration sent = std::min(time.clock().mono() - began, busy);
          return static_cast<std::uint64_t>(bytes_per_s * (sent / 1ms) / 1000);
        }) {}

  // After how long the stream is cancelled; nothing within an hour.
  std::optional<Duration> cancelled_after() {
    time.run(1h);
    if (!stream->cancelled_at) return std::nullopt;
    return *stream->cancelled_at - began;
  }

  test::VirtualTime time;
  MonoTime began = time.clock().mono();
  std::shared_ptr<SilentStream> stream = std::make_shared<SilentStream>(time.clock());
  StreamLimit limit;
};

TEST(StreamLimit, GivesAStreamMoreTimeWhileItsServerSendsOthers) {
  const struct {
    std::string_view what;
    std::int64_t bytes_per_s;
    Duration busy;
    Duration silence;
    Duration cancelled;
  } rows[] = {
      {"a silent server", 0, 0s, 10s, 10s},
      {"events of a quiet cluster", 800, 1h, 10s, 10s},
      {"other answers on a modem", 2'000, 1h, 10s, busy_silence_max},
      {"other answers for a while", 16'000, 25s, 10s, 40s},
      {"other answers that end at once", 16'000, 2s, 10s, 20s},
      {"a silence that is longer than all of that", 16'000, 1h, 15min, 15min},
      {"a silence that does not divide it", 16'000, 1h, 7min, busy_silence_max},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    LimitBench bench(row.bytes_per_s, row.busy);
    bench.limit.silence(row.silence);
    const auto cancelled = bench.cancelled_after();
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_GE(*cancelled, row.cancelled);
    EXPECT_LE(*cancelled, row.cancelled + 100ms);
    EXPECT_TRUE(bench.limit.stop());
  }
}

TEST(StreamLimit, StartsAnewWithEachPiece) {
  LimitBench bench(0, 0s);
  for (int piece = 0; piece < 20; ++piece) {
    bench.limit.silence(10s);
    bench.time.run(9s);
  }
  EXPECT_FALSE(bench.stream->cancelled_at.has_value());
  const auto cancelled = bench.cancelled_after();
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_LE(*cancelled, 20 * 9s + 2s);
}

TEST(StreamLimit, ADeadlineIsOneHoweverBusyTheServerIs) {
  LimitBench bench(16'000, 1h);
  bench.limit.deadline(bench.began + 10s);
  const auto cancelled = bench.cancelled_after();
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_LE(*cancelled, 10s + 100ms);
  EXPECT_TRUE(bench.limit.stop());
}

TEST(StreamLimit, ThatWasStoppedCancelsNothing) {
  LimitBench bench(0, 0s);
  bench.limit.silence(10s);
  bench.time.run(9s);
  EXPECT_FALSE(bench.limit.stop());
  EXPECT_FALSE(bench.cancelled_after().has_value());
}

TEST(StreamLimit, NeedNotKnowTheServer) {
  test::VirtualTime time;
  const auto stream = std::make_shared<SilentStream>(time.clock());
  StreamLimit limit(time.executor(), stream);
  limit.silence(10s);
  time.run(11s);
  EXPECT_TRUE(limit.stop());
  EXPECT_TRUE(stream->cancelled_at.has_value());
}

}  // namespace
}  // namespace holdfast::agent
