// The window that answers of one HTTP/2 connection share: how it follows the path.

#include "platform/http/h2/receive_window.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  std::size_t total = 0;
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
      {"150 KB/s", {150'000, 50ms}, 37 * kib, 147 * kib, 0.99},
      {"LTE", {2'000'000, 60ms}, 256 * kib, 2048 * kib, 0.99},
      {"far and fast", {12'000'000, 400ms}, 4096 * kib, 16384 * kib, 0.8},
      {"a local network", {120'000'000, 1ms}, 1024 * kib, 16384 * kib, 0.99},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Transfer transfer(row.path);
    transfer.run(row.settles);
    const std::size_t before = transfer.total;
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
  EXPECT_EQ(window.bytes(), 65'535u);
  window.answered(now);
  window.answered(now);  // nobody asked
  EXPECT_EQ(window.bytes(), 65'535u * 2);
}

}  // namespace
}  // namespace holdfast::http::h2
