// Link: the toxics that stand for cuts and qualities.

#include "agent/lab/cluster/link.h"

#include "test/support/run.h"

namespace holdfast::agent::lab::cluster {
namespace {

using namespace std::chrono_literals;

std::string text_of(const Cuts& cuts, const LinkQuality& up = {}, const LinkQuality& down = {}) {
  std::string text;
  for (const faults::Toxic& toxic : toxics_of(cuts, up, down)) {
    text += (text.empty() ? "" : ", ") + faults::to_text(toxic);
  }
  return text;
}

TEST(Link, CutsAreBlackHolesByDirection) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({.up = 1, .down = 2}), "black_hole");
  EXPECT_EQ(text_of({.up = 1}), "black_hole stream=upstream");
  EXPECT_EQ(text_of({.down = 1}), "black_hole stream=downstream");
  EXPECT_EQ(text_of({.refusals = 1}), "refuse");
  EXPECT_EQ(text_of({.up = 1, .down = 1, .refusals = 1}), "black_hole, refuse");
}

TEST(Link, QualitiesAreLatencyAndBandwidth) {
  const LinkQuality up{.latency = 250ms, .jitter = 100ms, .loss = 0.01, .rate = 8'250};
  const LinkQuality down{.latency = 20ms, .jitter = {}, .loss = 0, .rate = 10};
  EXPECT_EQ(text_of({}, up, down),
            "latency latency=300 jitter=50 stream=upstream, bandwidth rate=8 stream=upstream, "
            "latency latency=20, bandwidth rate=1")
      << "a toxic's jitter goes both ways, and a rate of 0 would pass nothing";
}

TEST(Link, OverlappingCutsAreHealedOneByOne) {
  test::run([](boost::asio::io_context& context) -> boost::asio::awaitable<void> {
    auto opened = Link::open(context.get_executor(), {"127.0.0.1", 9}, {}, {});
    EXPECT_TRUE(opened);
    if (!opened) co_return;
    Link& link = **opened;
    EXPECT_EQ(link.state(), "");
    EXPECT_TRUE(link.cut(Direction::both, CutKind::black_hole));
    EXPECT_TRUE(link.cut(Direction::up, CutKind::reset));
    EXPECT_TRUE(link.heal(Direction::both, CutKind::black_hole));
    EXPECT_EQ(link.state(), "cut") << "the second cut still acts";
    EXPECT_TRUE(link.heal(Direction::up, CutKind::reset));
    EXPECT_EQ(link.state(), "");
    EXPECT_TRUE(link.heal(Direction::up, CutKind::reset)) << "healing once too often is harmless";
    EXPECT_TRUE(link.set_quality({.latency = 1s}, {}, false));
    EXPECT_EQ(link.state(), "degraded");
    EXPECT_TRUE(link.cut(Direction::both, CutKind::refuse));
    EXPECT_EQ(link.state(), "cut");
    EXPECT_TRUE(link.heal(Direction::both, CutKind::refuse));
    EXPECT_EQ(link.state(), "degraded") << "the end of a cut does not end a degradation";
    EXPECT_TRUE(link.cut(Direction::both, CutKind::refuse));
    EXPECT_TRUE(link.heal_all());
    EXPECT_EQ(link.state(), "") << "cuts and degradations end";
    co_await link.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent::lab::cluster
