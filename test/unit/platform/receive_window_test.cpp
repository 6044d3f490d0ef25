// The window that answers of one HTTP/2 connection share: how it follows the path.

#include "platform/http/h2/receive_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>

namespace holdfast::http::h2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kib = 1024;

// A path whose server always has something to send: as much as the window permits is on its way.
// Its answer to a PING waits behind that.
struct Path {
  double bytes_per_s = 0;
  Duration round_trip{};

  // How long the bytes of a window take, which a PING waits for.
  [[nodiscard]] Duration delay(std::uint32_t window) const {
    const std::chrono::duration<double> line(window / bytes_per_s);
    return std::max(round_trip, std::chrono::duration_cast<Duration>(line));
  }
};

struct Transfer {
  explicit Transfer(const Path& on) : path(on) {
    EXPECT_TRUE(window.received(now, 0)) << "the idle path is measured first";
    now += path.round_trip;
    window.answered(now);
  }

  void run(Duration duration) {
    constexpr Duration step = 250us;
    for (const MonoTime end = now + duration; now < end; now += step) {
      if (now >= answer_at) {
        answer_at = MonoTime::max();
        window.answered(now);
      }
      const double seconds = std::chrono::duration<double>(path.delay(window.bytes())).count();
      arrived += window.bytes() / seconds * std::chrono::duration<double>(step).count();
      const auto count = static_cast<std::size_t>(arrived);
      arrived -= static_cast<double>(count);
      total += count;
      if (!window.received(now, count)) continue;
      EXPECT_EQ(answer_at, MonoTime::max()) << "one PING at a time";
      answer_at = now + path.delay(window.bytes());
      ++pings;
    }
  }

  Path path;
  ReceiveWindow window{};
  MonoTime now{};
  MonoTime answer_at = MonoTime::max();
  double arrived = 0;
  std::uint64_t total = 0;
  int pings = 0;
};

TEST(ReceiveWindow, KeepsWhatAPathCarriesInASecondAtMostAndAFastPathFull) {
  const struct Row {
    std::string_view name;
    Path path;
    std::uint32_t least, most;  // bytes
    double used;                // part of the path's bandwidth, at least
    // Time until that holds.
    Duration settles = 20s;
  } rows[] = {
      {"a modem", {2'000, 600ms}, 8 * kib, 8 * kib, 0.99, 60s},
      {"16 KB/s", {16'000, 100ms}, 8 * kib, 17 * kib, 0.99},
      {"16 KB/s by satellite", {16'000, 2s}, 24 * kib, 48 * kib, 0.99},
      {"150 KB/s", {150'000, 50ms}, 32 * kib, 147 * kib, 0.99},
      {"LTE", {2'000'000, 60ms}, 256 * kib, 2048 * kib, 0.99},
      {"far and fast", {12'000'000, 400ms}, 4096 * kib, 16384 * kib, 0.8},
      {"a local network", {120'000'000, 1ms}, 1024 * kib, 16384 * kib, 0.99},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Transfer transfer(row.path);
    transfer.run(row.settles);
    const std::uint64_t before = transfer.total;
    transfer.run(1min);
    EXPECT_GE(transfer.window.bytes(), row.least);
    EXPECT_LE(transfer.window.bytes(), row.most);
    EXPECT_GE(static_cast<double>(transfer.total - before), 60 * row.used * row.path.bytes_per_s);
  }
}

TEST(ReceiveWindow, FollowsAPathThatBecomesSlow) {
  Transfer transfer({2'000'000, 60ms});
  transfer.run(20s);
  ASSERT_GE(transfer.window.bytes(), 256 * kib);
  transfer.path.bytes_per_s = 16'000;
  // The PING that would tell is itself behind what is on its way.
  transfer.run(5s);
  EXPECT_LE(transfer.window.bytes(), 512 * kib);
  transfer.run(2min);
  EXPECT_LE(transfer.window.bytes(), 16 * kib);
  transfer.path.bytes_per_s = 2'000'000;
  transfer.run(20s);
  EXPECT_GE(transfer.window.bytes(), 256 * kib) << "and one that becomes fast again";
}

TEST(ReceiveWindow, MeasuresRarelyAndOnlyWhileAnswersArrive) {
  Transfer transfer({120'000'000, 1ms});
  transfer.run(10s);
  EXPECT_LE(transfer.pings, 110) << "about ten in a second";
  int pings = 0;
  for (int i = 0; i < 1000; ++i) {
    transfer.now += 1s;
    transfer.window.answered(transfer.now);
    pings += transfer.window.received(transfer.now, 100) ? 1 : 0;
  }
  EXPECT_LE(pings, 1 + 100'000 / (16 * 1024)) << "one for each 16 KiB";
}

TEST(ReceiveWindow, StaysAsItIsIfThePeerNeverAnswers) {
  ReceiveWindow window;
  MonoTime now{};
  EXPECT_TRUE(window.received(now, 0));
  for (int i = 0; i < 1000; ++i) {
    now += 1s;
    EXPECT_FALSE(window.received(now, 64UL * kib));
  }
  window.answered(now);
  window.answered(now);  // nobody asked
  EXPECT_EQ(window.bytes(), 16 * kib);
}

// On a far and fast path a window arrives within a moment, and then nothing for a round trip.
TEST(ReceiveWindow, DoublesInEachRoundTripInWhichItArrivesAtOnce) {
  ReceiveWindow window;
  MonoTime now{};
  EXPECT_TRUE(window.received(now, 0));
  window.answered(now += 400ms);
  (void)window.received(now, 16 * kib);
  (void)window.received(now += 400ms, 16 * kib);
  for (std::uint32_t bytes = 16 * kib; bytes < 16 * 1024 * kib; bytes *= 2) {
    EXPECT_EQ(window.bytes(), bytes);
    window.answered(now += 400ms);
    (void)window.received(now, bytes);
  }
  EXPECT_EQ(window.bytes(), 16 * 1024 * kib);
}

// On a slow path a TLS record arrives as a whole. If it was the window, nothing is on its way then,
// and the PING is answered at once.
TEST(ReceiveWindow, DoesNotGrowWhereAnswersToPingsComeAtOnceAndBytesDoNot) {
  for (const std::size_t first : {100UL, 8 * 1024UL, 16 * 1024UL}) {  // of a record
    SCOPED_TRACE(first);
    ReceiveWindow window;
    MonoTime now{};
    EXPECT_TRUE(window.received(now, 0));
    window.answered(now += 3ms);
    for (int i = 0; i < 1000; ++i) {
      now += 1s;
      (void)window.received(now, first);
      (void)window.received(now, 16 * kib - first);
      window.answered(now + 3ms);
      EXPECT_LE(window.bytes(), 16 * kib + 100);
    }
  }
}

TEST(AnswerSize, IsLargeWhileMuchArrives) {
  MonoTime now{};
  const auto size = [&now](std::size_t bytes, Duration each, int times) {
    AnswerSize size;
    for (int i = 0; i < times; ++i) size.add(now += each, bytes);
    return size;
  };
  EXPECT_FALSE(AnswerSize().is_large(now));
  EXPECT_FALSE(size(4 * kib, 0s, 1).is_large(now));
  EXPECT_TRUE(size(4 * kib + 1, 0s, 1).is_large(now));
  EXPECT_FALSE(size(300, 1s, 1000).is_large(now)) << "a quiet watch";
  for (int seconds = 20; seconds < 60; ++seconds) {
    EXPECT_TRUE(size(1000, 1s, seconds).is_large(now)) << seconds;
  }
  const AnswerSize stopped = size(16 * kib, 1s, 1);
  EXPECT_TRUE(stopped.is_large(now + 10s));
  EXPECT_FALSE(stopped.is_large(now + 21s));
  AnswerSize again = size(16 * kib, 1s, 1);
  again.add(now += 30s, 100);
  EXPECT_FALSE(again.is_large(now));
}

TEST(ReceiveWindow, IsSharedByLargeAnswers) {
  const ReceiveWindow window;
  EXPECT_EQ(window.of_stream(0), 16 * kib);
  EXPECT_EQ(window.of_stream(1), 16 * kib);
  EXPECT_EQ(window.of_stream(2), 8 * kib);
  EXPECT_EQ(window.of_stream(1000), 4 * kib);
  EXPECT_EQ(window.of_connection(), 64 * kib) << "HTTP/2's first window";
  MonoTime now{};
  StreamWindow each(window, 16 * kib);
  EXPECT_EQ(each.bytes(), 16 * kib);
  EXPECT_TRUE(each.is_due(now));
  EXPECT_TRUE(each.share(now, 4));
  EXPECT_EQ(each.bytes(), 4 * kib);
  EXPECT_FALSE(each.is_due(now + 99ms));
  EXPECT_TRUE(each.is_due(now + 100ms));
  EXPECT_FALSE(each.share(now + 100ms, 5)) << "4 KiB are the least";
  EXPECT_TRUE(each.share(now + 200ms, 1));
  EXPECT_EQ(StreamWindow(window, 10'000).bytes(), 10'000u);
}

TEST(StreamWindow, ChangesNotForALittle) {
  Transfer transfer({150'000, 50ms});
  StreamWindow each(transfer.window, 256 * kib);
  int changes = 0;
  for (int i = 0; i < 600; ++i) {
    transfer.run(100ms);
    changes += each.share(transfer.now, 1) ? 1 : 0;
  }
  EXPECT_GE(each.bytes(), transfer.window.bytes() / 4 * 3);
  EXPECT_LE(each.bytes(), transfer.window.bytes() / 3 * 4);
  EXPECT_LE(changes, 5);
}

// So much is sent at first if several answers begin at once, each with its own small window.
TEST(ReceiveWindow, ShrinksFromWhatWasOnItsWay) {
  ReceiveWindow window;
  MonoTime now{};
  EXPECT_TRUE(window.received(now, 0));
  window.answered(now += 40ms);
  EXPECT_TRUE(window.received(now += 1s, 16 * kib));
  EXPECT_FALSE(window.received(now += 500ms, 32 * kib));
  EXPECT_FALSE(window.received(now += 500ms, 16 * kib));
  window.answered(now);
  EXPECT_GE(window.bytes(), 16 * kib) << "64 KiB in a second: 16 KiB are no problem";
  EXPECT_LE(window.bytes(), 35 * kib);
}

// Events of watches need no window: nothing is known of how the path carries a large one.
TEST(ReceiveWindow, DoesNotGrowByWhatTrickles) {
  ReceiveWindow window;
  MonoTime now{};
  EXPECT_TRUE(window.received(now, 0));
  for (int i = 0; i < 10'000; ++i) {
    now += 50ms;
    window.answered(now);
    (void)window.received(now += 50ms, 1000);
  }
  EXPECT_EQ(window.bytes(), 16 * kib);
}

}  // namespace
}  // namespace holdfast::http::h2
