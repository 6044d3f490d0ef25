#include <gtest/gtest.h>

#include "agent/lab/up/event_log.h"
#include "agent/lab/up/node_marks.h"
#include "agent/lab/up/pending.h"

namespace holdfast::agent::lab::up {
namespace {

ScenarioEvent event_of(Action action) {
  ScenarioEvent event;
  event.action = std::move(action);
  return event;
}

TEST(UpNodeMarks, TheLinksCellSaysWhatIsDamaged) {
  NodeMarks marks;
  EXPECT_EQ(marks.link_of("a-1", {}), (Shown{"up"}));
  EXPECT_EQ(marks.link_of("a-1", {.link = "", .profile = "ethernet"}), (Shown{"up"}));
  EXPECT_EQ(marks.link_of("a-1", {.link = "", .profile = "4g"}), (Shown{"4g"}));
  EXPECT_EQ(marks.link_of("a-1", {.link = "cut"}), (Shown{"cut", Tone::bad}));
  EXPECT_EQ(marks.link_of("a-1", {.link = "cut", .is_powered = false}), (Shown{"off", Tone::bad}));
  EXPECT_EQ(marks.link_of("a-1", {.link = "degraded"}), (Shown{"degraded", Tone::soon}));

  const ScenarioEvent up = event_of(Cut{.target = "a-1", .direction = Direction::up});
  marks.note(Verb::begin, up);
  marks.note(Verb::begin, event_of(Cut{.target = "a-2", .direction = Direction::down}));
  EXPECT_EQ(marks.link_of("a-1", {.link = "cut"}), (Shown{"cut up", Tone::bad}));
  EXPECT_EQ(marks.link_of("a-2", {.link = "cut"}), (Shown{"cut down", Tone::bad}));
  EXPECT_EQ(marks.link_of("a-1", {.link = ""}), (Shown{"up"}));
  marks.note(Verb::end, up);
  EXPECT_EQ(marks.link_of("a-1", {.link = "cut"}), (Shown{"cut", Tone::bad}));

  Degrade degrade{.target = "a-1", .link = {}};
  degrade.link.name = "satellite";
  marks.note(Verb::begin, event_of(degrade));
  EXPECT_EQ(marks.link_of("a-1", {.link = "degraded"}), (Shown{"satellite", Tone::soon}));
  marks.note(Verb::end, event_of(degrade));
  EXPECT_EQ(marks.link_of("a-1", {.link = "degraded"}), (Shown{"degraded", Tone::soon}));
}

TEST(UpNodeMarks, PausesAreRememberedUntilTheyEnd) {
  NodeMarks marks;
  const ScenarioEvent edge = event_of(Pause{.process = Process::edge, .target = "a-1"});
  const ScenarioEvent node = event_of(Pause{.process = Process::node_agent, .target = "a-1"});
  EXPECT_EQ(marks.paused_on("a-1"), "");
  marks.note(Verb::begin, node);
  EXPECT_EQ(marks.paused_on("a-1"), "node-agent paused");
  marks.note(Verb::begin, edge);
  EXPECT_EQ(marks.paused_on("a-1"), "edge paused");
  EXPECT_EQ(marks.paused_on("a-2"), "");
  marks.note(Verb::end, edge);
  EXPECT_EQ(marks.paused_on("a-1"), "node-agent paused");
  marks.note(Verb::begin, event_of(Kill{.process = Process::node_agent, .target = "a-1"}));
  EXPECT_EQ(marks.paused_on("a-1"), "") << "a killed process starts afresh";
  marks.note(Verb::begin, edge);
  marks.note(Verb::begin, event_of(PowerLoss{.target = "a-1"}));
  EXPECT_EQ(marks.paused_on("a-1"), "");
}

TEST(UpPendingEnds, ALaterCommandCancelsThePlannedEnd) {
  PendingEnds pending;
  const Action cut = Cut{.target = "a-1"};
  const Action pause = Pause{.process = Process::edge, .target = "a-1"};
  const std::uint64_t first = pending.ticket(cut);
  const std::uint64_t paused = pending.ticket(pause);
  EXPECT_TRUE(pending.is_valid(cut, first));
  (void)pending.ticket(Cut{.target = "a-2"});
  (void)pending.ticket(Degrade{.target = "a-1", .link = {}});
  (void)pending.ticket(Kill{.process = Process::node_agent, .target = "a-1"});
  (void)pending.ticket(PowerLoss{.target = "a-1"});
  EXPECT_TRUE(pending.is_valid(cut, first)) << "other nodes and other parts do not matter";
  EXPECT_TRUE(pending.is_valid(pause, paused));
  (void)pending.ticket(Heal{.target = "a-1"});
  EXPECT_FALSE(pending.is_valid(cut, first));
  const std::uint64_t second = pending.ticket(cut);
  EXPECT_TRUE(pending.is_valid(cut, second));
  EXPECT_FALSE(pending.is_valid(cut, first));
  (void)pending.ticket(Kill{.process = Process::edge, .target = "a-1"});
  EXPECT_FALSE(pending.is_valid(pause, paused));
}

TEST(UpEventLog, KeepsTheLast) {
  EventLog log({.lines = 2});
  for (const char* text : {"a", "b", "c"}) log.add(std::chrono::seconds(1), text);
  EXPECT_EQ(log.last(), (std::vector<EventLine>{{std::chrono::seconds(1), "b"},
                                                {std::chrono::seconds(1), "c"}}));
  EXPECT_EQ(log.added(), 3U);
}

}  // namespace
}  // namespace holdfast::agent::lab::up
