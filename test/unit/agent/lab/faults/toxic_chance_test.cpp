// Toxics that draw random numbers, their limits, and what holds for every combination of toxics.

#include <algorithm>

#include "agent/lab/faults/toxic_link.h"

namespace holdfast::agent::faults {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime begin_time{1h};

Toxic toxic(std::string_view text) { return parse_toxics(text).value().front(); }

std::vector<Duration> latencies(std::uint64_t seed) {
  ToxicLink link(seed);
  link.add(begin_time, toxic("latency latency=100 jitter=40"));
  Pipe& pipe = link.pipe(Stream::downstream);
  std::vector<Duration> found;
  MonoTime now = begin_time;
  for (int i = 0; i < 1000; ++i) {
    now += 1s;
    pipe.feed(now, {Piece::Kind::bytes, "x"});
    found.push_back(pipe.deadline() - now);
    EXPECT_TRUE(pipe.next(pipe.deadline()));
  }
  return found;
}

TEST(ToxicChance, JitterVariesTheLatencyBothWays) {
  const std::vector<Duration> found = latencies(7);
  const auto [least, most] = std::minmax_element(found.begin(), found.end());
  EXPECT_GE(*least, 60ms);
  EXPECT_LE(*least, 65ms);
  EXPECT_LE(*most, 140ms);
  EXPECT_GE(*most, 135ms);
  EXPECT_EQ(found, latencies(7)) << "the same seed, the same run";
  EXPECT_NE(found, latencies(8));
}

TEST(ToxicChance, JitterNeverChangesTheOrder) {
  ToxicLink link(3);
  link.add(begin_time, toxic("latency latency=20 jitter=20"));
  Pipe& pipe = link.pipe(Stream::downstream);
  for (int i = 0; i < 100; ++i) {
    pipe.feed(begin_time + i * 1ms, {Piece::Kind::bytes, std::string(1, static_cast<char>(i))});
  }
  std::string passed;
  while (pipe.deadline() != MonoTime::max()) {
    while (const auto piece = pipe.next(pipe.deadline())) passed += piece->bytes;
  }
  ASSERT_EQ(passed.size(), 100U);
  EXPECT_TRUE(std::is_sorted(passed.begin(), passed.end()));
}

TEST(ToxicChance, SlicesVaryAroundTheAverage) {
  ToxicLink link(5);
  link.add(begin_time, toxic("slicer average_size=100 size_variation=20"));
  Pipe& pipe = link.pipe(Stream::downstream);
  pipe.feed(begin_time, {Piece::Kind::bytes, std::string(10'000, 'x')});
  std::vector<std::size_t> sizes;
  while (const auto piece = pipe.next(begin_time)) sizes.push_back(piece->bytes.size());
  sizes.pop_back();  // the rest
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  EXPECT_GE(*least, 80U);
  EXPECT_LE(*least, 85U);
  EXPECT_LE(*most, 120U);
  EXPECT_GE(*most, 115U);
}

TEST(ToxicChance, ToxicityIsTheShareOfConnections) {
  Random seeds(11);
  int cut = 0;
  for (int i = 0; i < 1000; ++i) {
    ToxicLink link(seeds.next());
    link.add(begin_time, toxic("black_hole toxicity=0.3"));
    const bool up = link.pipe(Stream::upstream).is_black_hole();
    EXPECT_EQ(up, link.pipe(Stream::downstream).is_black_hole()) << "both directions or neither";
    cut += up ? 1 : 0;
  }
  EXPECT_GT(cut, 250);
  EXPECT_LT(cut, 350);
}

TEST(ToxicChance, AConnectionKeepsItsDrawWhenTheToxicityChanges) {
  Random seeds(13);
  for (int i = 0; i < 100; ++i) {
    ToxicLink link(seeds.next());
    Pipe& pipe = link.pipe(Stream::upstream);
    link.add(begin_time, toxic("black_hole toxicity=0.5"));
    const bool before = pipe.is_black_hole();
    link.change(begin_time, toxic("black_hole toxicity=0.7"));
    EXPECT_TRUE(pipe.is_black_hole() || !before);
    link.change(begin_time, toxic("black_hole toxicity=0.5"));
    EXPECT_EQ(pipe.is_black_hole(), before);
    link.change(begin_time, toxic("black_hole toxicity=0"));
    EXPECT_FALSE(pipe.is_black_hole());
    link.change(begin_time, toxic("black_hole"));
    EXPECT_TRUE(pipe.is_black_hole());
  }
}

TEST(ToxicLimits, AFullPipeHasNoRoom) {
  ToxicLink link(1);
  link.add(begin_time, toxic("black_hole"));
  Pipe& pipe = link.pipe(Stream::upstream);
  std::size_t fed = 0;
  for (; pipe.has_room(); ++fed)
    pipe.feed(begin_time, {Piece::Kind::bytes, std::string(1024, 'x')});
  EXPECT_LE(fed, 1024U);
  EXPECT_GE(fed, 900U);
  EXPECT_LE(pipe.held(), Pipe::stage_bytes_max + 2048);
  link.remove(begin_time, toxic("black_hole"));
  while (pipe.next(begin_time)) --fed;
  EXPECT_EQ(fed, 0U);
  EXPECT_EQ(pipe.held(), 0U);
  EXPECT_TRUE(pipe.has_room());
}

// Pieces of one byte take much more memory than bytes, so a slicer has to wait for the toxic behind
// it.
TEST(ToxicLimits, SmallSlicesAreHeldBackWhereTheyAreLarge) {
  ToxicLink link(1);
  link.add(begin_time, toxic("slicer average_size=1"));
  link.add(begin_time, toxic("latency latency=1000"));
  Pipe& pipe = link.pipe(Stream::downstream);
  std::size_t fed = 0;
  for (; pipe.has_room(); ++fed)
    pipe.feed(begin_time, {Piece::Kind::bytes, std::string(1024, 'x')});
  EXPECT_LE(pipe.held(), 2 * Pipe::stage_bytes_max + 2048);
  std::size_t passed = 0;
  while (pipe.deadline() != MonoTime::max()) {
    const MonoTime now = pipe.deadline();
    while (const auto piece = pipe.next(now)) passed += piece->bytes.size();
    EXPECT_LE(pipe.held(), 2 * Pipe::stage_bytes_max + 2048);
  }
  EXPECT_EQ(passed, fed * 1024);
}

// Random toxics that drop nothing come and go while random data passes.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : random_(seed), link_(random_.next()) {}

  void play() {
    for (int i = 0; i < 300; ++i) {
      act(random_.below(10));
      drain();
      now_ += random_.jitter(50ms);
      drain();
    }
    pipe().feed(now_, {Piece::Kind::end});
    while (!active_.empty()) remove(0);
    drain();
    EXPECT_EQ(out_, in_);
    EXPECT_TRUE(ended_);
    EXPECT_EQ(pipe().deadline(), MonoTime::max());
    EXPECT_EQ(pipe().held(), 0U);
  }

 private:
  void act(std::uint64_t choice) {
    if (choice < 5) {
      const std::string bytes = random_.text(random_.below(3000), "abcdefghij");
      in_ += bytes;
      pipe().feed(now_, {Piece::Kind::bytes, bytes});
    } else if (choice < 7 && active_.size() < 6) {
      Toxic added = any();
      added.name = "toxic-" + std::to_string(++count_);
      link_.add(now_, added);
      active_.push_back(added);
    } else if (choice == 8 && !active_.empty()) {
      Toxic& changed = active_[random_.below(active_.size())];
      Toxic other = any();
      while (other.type != changed.type) other = any();
      other.name = changed.name;
      changed = other;
      link_.change(now_, changed);
    } else if (!active_.empty()) {
      remove(random_.below(active_.size()));
    }
  }

  void remove(std::size_t index) {
    link_.remove(now_, active_[index]);
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  Toxic any() {
    const std::string texts[] = {"latency latency=30 jitter=30",
                                 "latency latency=5",
                                 "bandwidth rate=0",
                                 "bandwidth rate=7 ",
                                 "slow_close delay=9",
                                 "slicer average_size=50 delay=100",
                                 "black_hole",
                                 "black_hole toxicity=0.5",
                                 "slicer average_size=9 size_variation=8"};
    return toxic(texts[random_.below(std::size(texts))]);
  }

  void drain() {
    while (const auto piece = pipe().next(now_)) {
      EXPECT_FALSE(ended_);
      out_ += piece->bytes;
      ended_ = piece->kind != Piece::Kind::bytes;
    }
    EXPECT_GT(pipe().deadline(), now_);
  }

  Pipe& pipe() { return link_.pipe(Stream::downstream); }

  Random random_;
  ToxicLink link_;
  MonoTime now_ = begin_time;
  std::vector<Toxic> active_;
  int count_ = 0;
  std::string in_;
  std::string out_;
  bool ended_ = false;
};

TEST(ToxicChance, NoByteIsLostOrReordered) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRun(seed).play();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace holdfast::agent::faults
