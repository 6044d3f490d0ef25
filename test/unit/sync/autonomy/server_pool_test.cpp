// The choice among several API servers, in virtual time.

#include "sync/autonomy/server_pool.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr MonoTime pool_start{100s};

struct ServerPoolBench {
  explicit ServerPoolBench(LbMode mode, std::size_t servers = 3)
      : pool({.mode = mode, .probe_backoff_min = 2s, .probe_backoff_max = 8s}, servers, random,
             pool_start) {}

  bool record(std::size_t server, Evidence evidence) {
    return pool.record(now, now, server, evidence, "why");
  }
  // The next `count` servers.
  std::string next(int count, std::optional<std::size_t> but = {}) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(pool.next(but));
    return text;
  }

  Random random{1};
  MonoTime now = pool_start;
  ServerPool pool;
};

TEST(ServerPool, WhoIsAskedFollowsTheModeAndTheHealth) {
  struct Case {
    const char* what;
    LbMode mode;
    std::vector<std::size_t> failed;
    std::optional<std::size_t> but;
    const char* next;
  };
  const Case cases[] = {
      {"in turn", LbMode::rr, {}, {}, "012012"},
      {"the first", LbMode::priority, {}, {}, "000000"},
      {"in turn without the bad one", LbMode::rr, {1}, {}, "020202"},
      {"the first that is well", LbMode::priority, {0}, {}, "111111"},
      {"the last that is well", LbMode::priority, {0, 1}, {}, "222222"},
      {"one is left", LbMode::rr, {0, 2}, {}, "111111"},
      {"one is left, and was just tried", LbMode::rr, {0, 2}, 1, "111111"},
      {"none is left: everyone in turn", LbMode::rr, {0, 1, 2}, {}, "012012"},
      {"none is left: no priority either", LbMode::priority, {0, 1, 2}, {}, "012012"},
      {"none is left but others than this", LbMode::rr, {0, 1, 2}, 1, "020202"},
      {"another than the first", LbMode::priority, {}, 0, "111111"},
      {"another in turn", LbMode::rr, {}, 0, "121212"},
  };
  for (const Case& c : cases) {
    ServerPoolBench bench(c.mode);
    for (const std::size_t server : c.failed) EXPECT_TRUE(bench.record(server, Evidence::failed));
    EXPECT_EQ(bench.next(6, c.but), c.next) << c.what;
    EXPECT_EQ(bench.pool.any_in_rotation(), c.failed.size() < 3) << c.what;
  }
  ServerPoolBench alone(LbMode::rr, 1);
  EXPECT_EQ(alone.next(3, 0), "000");
  EXPECT_TRUE(alone.record(0, Evidence::failed));
  EXPECT_EQ(alone.next(3), "000");
  EXPECT_EQ(alone.pool.probe_due(), MonoTime::max()) << "the Link sends the probes";
}

TEST(ServerPool, WhatIsHeardAndWhatIsNot) {
  ServerPoolBench bench(LbMode::rr);
  EXPECT_EQ(to_string(bench.pool.at(0).health), "untried");
  EXPECT_EQ(bench.pool.at(0).reason, "not tried yet");
  EXPECT_FALSE(bench.record(0, Evidence::overloaded)) << "there, but that is all";
  EXPECT_EQ(to_string(bench.pool.at(0).health), "untried");
  EXPECT_TRUE(bench.record(0, Evidence::answered));
  EXPECT_FALSE(bench.record(0, Evidence::answered));
  EXPECT_EQ(to_string(bench.pool.at(0).health), "healthy");
  bench.now += 5s;
  const MonoTime asked = bench.now;
  bench.now += 1s;
  EXPECT_TRUE(bench.pool.record(bench.now, asked, 0, Evidence::failed, "connection refused"));
  EXPECT_EQ(to_string(bench.pool.at(0).health), "failed");
  EXPECT_EQ(bench.pool.at(0).since, bench.now);
  EXPECT_EQ(bench.pool.at(0).reason, "connection refused");
  EXPECT_FALSE(bench.pool.record(bench.now, asked, 0, Evidence::answered, "late")) << "old news";
  EXPECT_EQ(bench.pool.at(0).reason, "connection refused");
  EXPECT_FALSE(bench.record(0, Evidence::overloaded)) << "does not bring it back";
  EXPECT_EQ(bench.next(3), "121");
  EXPECT_TRUE(bench.record(0, Evidence::answered));
  EXPECT_EQ(bench.next(3), "201");
}

TEST(ServerPool, ProbesBackOffAndAreTheLinksWhenNoServerIsLeft) {
  ServerPoolBench bench(LbMode::rr);
  EXPECT_EQ(bench.pool.probe_due(), MonoTime::max());
  EXPECT_TRUE(bench.record(1, Evidence::failed));
  Duration backoff = 2s;
  for (int round = 0; round < 6; ++round) {
    const Duration wait = bench.pool.probe_due() - bench.now;
    EXPECT_GE(wait, backoff / 2) << round;
    EXPECT_LE(wait, backoff) << round;
    EXPECT_EQ(bench.pool.take_probe(bench.now), std::nullopt);
    bench.now = bench.pool.probe_due();
    EXPECT_EQ(bench.pool.take_probe(bench.now), std::optional<std::size_t>(1));
    EXPECT_FALSE(bench.record(1, Evidence::failed));
    backoff = std::min<Duration>(backoff * 2, 8s);
  }
  EXPECT_TRUE(bench.record(0, Evidence::failed));
  EXPECT_LE(bench.pool.probe_due() - bench.now, 2s) << "each has a back-off of its own";
  EXPECT_TRUE(bench.record(2, Evidence::failed));
  EXPECT_EQ(bench.pool.probe_due(), MonoTime::max());
  bench.now += 1h;
  EXPECT_EQ(bench.pool.take_probe(bench.now), std::nullopt);
  EXPECT_TRUE(bench.record(2, Evidence::answered));
  EXPECT_LE(bench.pool.probe_due(), bench.now + 8s);

  // Back for a moment only: the next wait is longer; back for long: it begins anew.
  EXPECT_TRUE(bench.record(1, Evidence::answered));
  bench.now += 1s;
  EXPECT_TRUE(bench.record(1, Evidence::failed));
  EXPECT_GE(bench.pool.at(1).probe_due - bench.now, 4s);
  EXPECT_TRUE(bench.record(1, Evidence::answered));
  bench.now += 8s;
  EXPECT_TRUE(bench.record(1, Evidence::failed));
  EXPECT_LE(bench.pool.at(1).probe_due - bench.now, 2s);
}

TEST(ServerPool, ModesAreReadByOpenYurtsNames) {
  EXPECT_EQ(parse_lb_mode("rr"), LbMode::rr);
  EXPECT_EQ(parse_lb_mode("priority"), LbMode::priority);
  for (const char* bad : {"", "RR", "round-robin", "consistent-hashing"}) {
    EXPECT_EQ(parse_lb_mode(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy
