// A real kubelet's session, replayed through the agent: it gets what it got from the API server.
// Only the node's lease belongs to the agent, which answers for it, connected or not.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "test/unit/agent/edge/replay/replay_fixture.h"

namespace holdfast::agent::replay {
namespace {

std::string shown(const std::string& bytes) {
  return std::to_string(bytes.size()) + " bytes, " +
         std::to_string(std::hash<std::string>{}(bytes));
}

void check_lease(const Exchange& exchange, const http::Response& response, WallTime& renewed) {
  const bool created = exchange.request.method == http::Method::post;
  EXPECT_EQ(response.status, created ? 201 : 200) << exchange.name();
  const auto lease = sync::wire::decode_protobuf<sync::Lease>(response.body);
  ASSERT_TRUE(lease.has_value()) << exchange.name() << ": " << lease.error().what;
  EXPECT_EQ(lease->metadata.name, "edge1");
  EXPECT_GT(lease->spec.renew_time.value_or(WallTime::min()), renewed) << exchange.name();
  renewed = lease->spec.renew_time.value_or(WallTime::min());
}

// A list from the server's cache is unordered, and its version may reflect changes to other
// objects; the version of ours is the one up to which this scope was seen.
void check_list(const Exchange& exchange, const http::Response& response) {
  const auto ours = sync::wire::split_protobuf_list(response.body);
  const auto theirs = sync::wire::split_protobuf_list(exchange.body);
  ASSERT_TRUE(ours && theirs) << exchange.name();
  EXPECT_EQ(std::multiset(ours->items.begin(), ours->items.end()),
            std::multiset(theirs->items.begin(), theirs->items.end()))
      << exchange.name();
  EXPECT_EQ(ours->head.kind, theirs->head.kind);
  EXPECT_EQ(ours->head.api_version, theirs->head.api_version);
  EXPECT_LE(std::stoll(ours->head.resource_version), std::stoll(theirs->head.resource_version));
  for (const std::string_view item : ours->items) {
    const std::string object = sync::wire::enveloped("v1", "Any", item);
    const auto header = sync::wire::read_protobuf_header(object);
    EXPECT_GE(std::stoll(ours->head.resource_version), std::stoll(header->resource_version));
  }
}

void check_answer(const Exchange& exchange, const http::Response& response) {
  EXPECT_EQ(response.status, exchange.status) << exchange.name();
  if (exchange.is_watch) {
    EXPECT_NE(response.stream, nullptr) << exchange.name();
    return;
  }
  EXPECT_EQ(response.headers.get("content-type"), sync::wire::protobuf_type) << exchange.name();
  if (exchange.is_list()) {
    check_list(exchange, response);
  } else {
    EXPECT_EQ(shown(response.body), shown(exchange.body)) << exchange.name();
  }
}

// The objects with which a watch begins are unordered, but all come before the bookmark.
void sort_initial(const OpenWatch& watch, std::vector<std::string>& events,
                  std::vector<std::string>& expected) {
  const std::size_t initial = watch.exchange->initial_frames();
  EXPECT_FALSE(watch.bookmarks.empty()) << watch.exchange->name();
  EXPECT_EQ(watch.before_bookmark, initial) << watch.exchange->name();
  ASSERT_GE(events.size(), initial) << watch.exchange->name();
  const auto count = static_cast<std::ptrdiff_t>(initial);
  std::sort(events.begin(), events.begin() + count);
  std::sort(expected.begin(), expected.begin() + count);
}

class Replay : public testing::TestWithParam<Session> {};

TEST_P(Replay, TheKubeletGetsWhatItGotFromTheServer) {
  ReplayFixture fixture(GetParam());
  WallTime renewed = WallTime::min();
  const auto check = [&renewed](const Exchange& exchange, const http::Response& response) {
    if (exchange.is_lease()) {
      check_lease(exchange, response, renewed);
    } else {
      check_answer(exchange, response);
    }
  };
  fixture.play(fixture.recording.exchanges.back().line, check);
  EXPECT_EQ(fixture.upstream.unexpected, std::vector<std::string>());
}

TEST_P(Replay, EveryWatchBringsTheSameEventsInTheSameOrder) {
  ReplayFixture fixture(GetParam());
  fixture.play(fixture.recording.exchanges.back().line,
               [](const Exchange&, const http::Response&) {});
  EXPECT_EQ(fixture.watches.size(),
            std::ranges::count_if(fixture.recording.exchanges, &Exchange::is_watch));
  EXPECT_GT(fixture.watches.size(), 20U);
  for (const auto& watch : fixture.watches) {
    // Bookmarks are left out: the agent sends them at its own times.
    std::vector<std::string> expected;
    for (const Frame& frame : watch->exchange->frames) {
      if (!frame.is_bookmark) expected.push_back(shown(frame.bytes));
    }
    std::vector<std::string> events;
    for (const std::string& event : watch->events) events.push_back(shown(event));
    if (watch->exchange->is_watch_list()) sort_initial(*watch, events, expected);
    EXPECT_EQ(events, expected) << watch->exchange->name();
    EXPECT_TRUE(std::is_sorted(watch->bookmarks.begin(), watch->bookmarks.end()));
  }
}

INSTANTIATE_TEST_SUITE_P(Sessions, Replay, testing::ValuesIn(sessions),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace holdfast::agent::replay
