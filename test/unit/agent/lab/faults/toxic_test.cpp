// How toxics are written, and which are refused.

#include "agent/lab/faults/toxic.h"

namespace holdfast::agent::faults {
namespace {

TEST(Toxic, IsReadAndWritten) {
  const std::pair<std::string, std::string> good[] = {
      {"latency", "latency"},
      {"latency latency=300 jitter=50", "latency latency=300 jitter=50"},
      {"  latency   jitter=0  latency=300 ", "latency latency=300"},
      {"latency stream=upstream", "latency stream=upstream"},
      {"latency stream=DOWNSTREAM", "latency"},
      {"bandwidth rate=5 toxicity=0.25", "bandwidth rate=5 toxicity=0.25"},
      {"slow_close delay=1", "slow_close delay=1"},
      {"slow-close delay=1", "slow_close delay=1"},
      {"timeout timeout=0 name=t", "timeout name=t"},
      {"timeout name=timeout_downstream", "timeout"},
      {"reset_peer timeout=1000000000", "reset_peer timeout=1000000000"},
      {"slicer average-size=9 size-variation=8 delay=7",
       "slicer average_size=9 size_variation=8 delay=7"},
      {"limit_data bytes=1000000000000000", "limit_data bytes=1000000000000000"},
      {"black_hole", "black_hole"},
      {"black-hole stream=upstream", "black_hole stream=upstream"},
      {"black_hole stream=both", "black_hole"},
      {"refuse", "refuse"},
  };
  for (const auto& [text, canonical] : good) {
    const auto toxics = parse_toxics(text);
    ASSERT_TRUE(toxics) << text << ": " << toxics.error().what;
    ASSERT_EQ(toxics->size(), 1U) << text;
    EXPECT_EQ(to_text(toxics->front()), canonical);
    EXPECT_EQ(parse_toxics(to_text(toxics->front())).value(), *toxics);
  }
}

TEST(Toxic, SeveralAreSeparatedByCommas) {
  const auto both = parse_toxics("latency latency=5, bandwidth rate=1 stream=upstream").value();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].name, "latency_downstream");
  EXPECT_EQ(both[0].get("latency"), 5);
  EXPECT_EQ(both[1].name, "bandwidth_upstream");
  EXPECT_TRUE(parse_toxics("").value().empty());
  EXPECT_TRUE(parse_toxics(" ").value().empty());
}

TEST(Toxic, OurOwnActOnBothStreams) {
  const Toxic hole = parse_toxic({"black_hole"}).value();
  EXPECT_EQ(hole.name, "black_hole");
  EXPECT_TRUE(hole.acts_on(Stream::upstream) && hole.acts_on(Stream::downstream));
  const Toxic half = parse_toxic({"black_hole", "stream=upstream"}).value();
  EXPECT_EQ(half.name, "black_hole_upstream");
  EXPECT_TRUE(half.acts_on(Stream::upstream) && !half.acts_on(Stream::downstream));
}

TEST(Toxic, MistakesAreNamed) {
  const std::pair<std::string, std::string> bad[] = {
      {"latncy", "invalid toxic type: \"latncy\" is none of latency, bandwidth, slow_close, "},
      {"pass", "invalid toxic type"},
      {"delay=300ms", "invalid toxic type: \"delay=300ms\""},
      {"latency,", "a toxic is missing"},
      {"latency 300", "not attribute=value: \"300\""},
      {"latency delay=3", "unknown attribute \"delay\": latency has only latency, jitter"},
      {"latency delay=soon", "unknown attribute \"delay\""},
      {"black_hole rate=3", "unknown attribute \"rate\": black_hole has no attributes"},
      {"latency latency=", "latency: not a whole number: \"\""},
      {"latency latency=300ms", "latency: not a whole number: \"300ms\""},
      {"latency latency=-1", "latency of latency: -1 is not from 0 to 1000000000"},
      {"latency latency=1000000001", "is not from 0 to 1000000000"},
      {"latency latency=99999999999999999999", "not a whole number"},
      {"slicer", "attribute average_size of slicer: 0 is not from 1 to 1000000000"},
      {"slicer average_size=5 size_variation=5", "must be below average_size"},
      {"latency stream=up", "stream was invalid, can be either upstream or downstream"},
      {"latency stream=both", "stream was invalid, can be either upstream or downstream"},
      {"latency toxicity=1.5", "toxicity must be from 0 to 1"},
      {"latency toxicity=-1", "toxicity must be from 0 to 1"},
      {"latency toxicity=nan", "toxicity must be from 0 to 1"},
      {"latency toxicity=", "toxicity: not a number"},
      {"latency name=", "name: empty"},
      {"latency name=a/b", "bad name of a toxic: \"a/b\""},
      {"refuse stream=upstream", "refuse acts on both streams of all connections"},
      {"refuse toxicity=0.5", "refuse acts on both streams of all connections"},
  };
  for (const auto& [text, error] : bad) {
    const auto toxics = parse_toxics(text);
    ASSERT_FALSE(toxics) << text;
    EXPECT_EQ(toxics.error().code, Errc::invalid) << text;
    EXPECT_NE(toxics.error().what.find(error), std::string::npos) << toxics.error().what;
  }
}

TEST(Toxic, NamesArePartsOfUrls) {
  for (const std::string name : {"a", "edge-a", "redis:6379", "a.b_c", "...a"}) {
    EXPECT_TRUE(check_name("proxy", name)) << name;
  }
  for (const std::string name : {"", ".", "..", "a b", "a/b", "a%2fb", "a?b", "a\nb", "\xc3\xa4"}) {
    EXPECT_FALSE(check_name("proxy", name)) << name;
  }
  EXPECT_TRUE(check_name("proxy", std::string(128, 'a')));
  EXPECT_FALSE(check_name("proxy", std::string(129, 'a')));
}

}  // namespace
}  // namespace holdfast::agent::faults
