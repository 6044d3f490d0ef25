// A wall clock that jumps, a suspended machine, a board that boots in 1970: the lease is still
// renewed, and its time only grows.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using sync::autonomy::LinkState;

constexpr Duration year = hours(24 * 365);
constexpr const char* lease =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1";

WallTime time_of(const std::string& text) { return parse_rfc3339(text).value(); }

// Waits for the next renewal and returns its renewTime.
WallTime next_renewal(UplinkFixture& fixture, Duration limit = 12s) {
  const std::size_t before = fixture.cloud.renewals.size();
  const auto came = [&fixture, before] { return fixture.cloud.renewals.size() > before; };
  EXPECT_TRUE(fixture.time.run_until(limit, came));
  return came() ? time_of(fixture.cloud.renewals.back()) : WallTime{};
}

// Checks that the next three renewals are at max(now, last + 1 us).
void expect_renewals(UplinkFixture& fixture) {
  WallTime last = time_of(fixture.cloud.renewals.back());
  for (int i = 0; i < 3; ++i) {
    const WallTime renewed = next_renewal(fixture);
    const WallTime now = std::chrono::floor<microseconds>(fixture.time.clock().wall());
    EXPECT_EQ(renewed, std::max(now, last + microseconds(1))) << format_rfc3339(renewed);
    last = renewed;
  }
}

// expect_renewals() after an outage: local renewals and failed attempts count as the last ones,
// too.
void expect_renewals_come_back(UplinkFixture& fixture) {
  WallTime last = time_of(fixture.cloud.renewals.back());
  for (int i = 0; i < 3; ++i) {
    const WallTime renewed = next_renewal(fixture, 1min);
    const WallTime now = std::chrono::floor<microseconds>(fixture.time.clock().wall());
    EXPECT_GE(renewed, std::max(now, last + microseconds(1))) << format_rfc3339(renewed);
    EXPECT_LE(renewed, std::max(now, last + 1min)) << format_rfc3339(renewed);
    last = renewed;
  }
}

// Checks that the lease that the kubelet reads grows in the same way.
void expect_local_lease_grows(UplinkFixture& fixture) {
  WallTime last{};
  for (int i = 0; i < 3; ++i) {
    const http::Response told = fixture.ask(lease);
    ASSERT_EQ(told.status, 200);
    const WallTime renewed =
        time_of(*sync::wire::text_at(told.body, {"spec", "renewTime"}).value());
    EXPECT_GT(renewed, last);
    last = renewed;
  }
}

TEST(Time, TheLeaseGrowsWhateverTheCalendarDoes) {
  struct Case {
    const char* what;
    std::function<void(test::VirtualClock&)> happen;
  };
  const Case cases[] = {
      {"a year ahead", [](auto& clock) { clock.jump_wall(year); }},
      {"a year back", [](auto& clock) { clock.jump_wall(-year); }},
      {"an hour back", [](auto& clock) { clock.jump_wall(-1h); }},
      {"to 1970", [](auto& clock) { clock.jump_wall(WallTime(1min) - clock.wall()); }},
      {"a nap", [](auto& clock) { clock.advance(8h); }},
      {"a year's sleep", [](auto& clock) { clock.advance(year); }},
      {"asleep, and the calendar is set back on waking",
       [](auto& clock) {
         clock.advance(8h);
         clock.jump_wall(-year);
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture;
    fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
    ASSERT_TRUE(fixture.until(LinkState::connected));
    ASSERT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
    expect_renewals(fixture);
    c.happen(fixture.time.clock());
    expect_renewals(fixture);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    expect_local_lease_grows(fixture);

    // Also during an outage in which the wall clock is corrected.
    fixture.servers[0]->cut("black_hole");
    ASSERT_TRUE(fixture.until(LinkState::offline, 30s));
    fixture.time.clock().jump_wall(-hours(24));
    fixture.time.run(2min);
    expect_local_lease_grows(fixture);
    EXPECT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
    fixture.servers[0]->restore();
    expect_renewals_come_back(fixture);
    EXPECT_TRUE(fixture.until(LinkState::connected));
  }
}

TEST(Time, ABoardWithoutAClockBootsIn1970) {
  UplinkFixture fixture;
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
  fixture.time.run(5s);
  const WallTime before = time_of(fixture.cloud.renewals.back());
  const auto boot_in_1970 = [&fixture] {
    fixture.stop();
    fixture.time.clock().jump_wall(WallTime(10s) - fixture.time.clock().wall());
  };

  // Offline: the cache is served, and the lease uses what is known of the time.
  boot_in_1970();
  fixture.servers[0]->cut("refuse");
  fixture.start();
  fixture.time.run(10s);
  EXPECT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
  expect_local_lease_grows(fixture);

  // The cloud has a later time: renewals continue from it, by a microsecond at a time.
  fixture.servers[0]->restore();
  EXPECT_GE(next_renewal(fixture, 1min), before + microseconds(1));
  EXPECT_LT(time_of(fixture.cloud.renewals.back()), before + 1s);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  expect_renewals(fixture);
  // Then somebody sets the clock correctly.
  fixture.time.clock().jump_wall(before + hours(1) - fixture.time.clock().wall());
  expect_renewals(fixture);
  EXPECT_GT(time_of(fixture.cloud.renewals.back()), before + hours(1));

  // The latest time that is certain is stored for the next boot.
  const WallTime known = before + hours(30);
  boot_in_1970();
  std::ofstream(std::filesystem::path(fixture.options.data_dir) / "time-floor")
      << format_rfc3339(known) << "\n";
  fixture.start();
  EXPECT_GE(next_renewal(fixture, 1min), known);
  EXPECT_LT(time_of(fixture.cloud.renewals.back()), known + 1min);
}

// The results of the events, from the journal: "applied events/a/young".
std::vector<std::string> ends_of_events(UplinkFixture& fixture) {
  std::vector<std::string> ends;
  const auto rows = sync::wire::parse_json(fixture.admin("/v1/journal?limit=1000")).value();
  for (const auto& row : rows.as_array()) {
    const std::string kind(row.at("kind").as_string());
    const std::string subject(row.at("subject").as_string());
    const bool ended = kind.starts_with("write-") && kind != "write-accepted";
    if (ended && subject.starts_with("events/")) ends.push_back(kind.substr(6) + " " + subject);
  }
  return ends;
}

TEST(Time, AnEventThatWaitedTooLongIsDroppedAndSaidSo) {
  struct Row {
    std::string name;
    Duration first_wait;  // then the agent is restarted, if `restarts`
    bool restarts;
    Duration jump;  // of the wall clock
    std::vector<std::string> ends;
  };
  const std::vector<std::string> one_of_two{"expired events/a/old", "applied events/a/young"};
  const std::vector<std::string> both{"applied events/a/old", "applied events/a/young"};
  const Row rows[] = {
      {"both in time", 29min, false, {}, both},
      {"one too late", 31min, false, {}, one_of_two},
      {"known from the last run only", 31min, true, {}, one_of_two},
      {"the calendar jumps, and does not matter", 29min, false, year, both},
      {"set back before the agent restarts: the calendar can't tell", 31min, true, -year, both},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    UplinkFixture fixture;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.servers[0]->cut("refuse");
    ASSERT_TRUE(fixture.until(LinkState::offline));
    const auto post = [&fixture](const std::string& name) {
      http::Request event{.method = http::Method::post, .target = "/api/v1/namespaces/a/events"};
      event.headers.add("User-Agent", "kubelet/v1");
      event.body = R"({"metadata":{"name":")" + name + R"(","namespace":"a"}})";
      EXPECT_EQ(fixture.ask(event).status, 201);
    };
    post("old");
    fixture.time.run(row.first_wait);
    fixture.time.clock().jump_wall(row.jump);
    if (row.restarts) {
      fixture.stop();
      fixture.start();
      fixture.time.run(1s);
    }
    post("young");
    fixture.time.run(30min);
    const std::size_t from = fixture.cloud.asked.size();
    fixture.servers[0]->restore();
    ASSERT_TRUE(fixture.until(LinkState::connected, 5min)) << fixture.reason();
    EXPECT_EQ(ends_of_events(fixture), row.ends);
    const int sent = static_cast<int>(
        std::count_if(row.ends.begin(), row.ends.end(),
                      [](const std::string& end) { return end.starts_with("applied"); }));
    EXPECT_EQ(fixture.cloud.count("POST /api/v1/namespaces/a/events", from), sent);
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink
