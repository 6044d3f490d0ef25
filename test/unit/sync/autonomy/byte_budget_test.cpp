// The byte budget: parsing of the flag, classes of requests, and when the next request may be sent.

#include "sync/autonomy/byte_budget.h"

namespace holdfast::sync::autonomy {
namespace {

using namespace std::chrono_literals;
constexpr MonoTime budget_start{100s};

TEST(ByteRates, AreReadAsTheyAreWritten) {
  const auto rates = [](std::int64_t total, std::int64_t relist = 0, std::int64_t reads = 0,
                        std::int64_t writes = 0, std::int64_t events = 0) {
    return ByteRates{total, {0, relist, reads, writes, events}};
  };
  struct Good {
    std::vector<std::string> texts;
    ByteRates rates;
  };
  const Good good[] = {
      {{}, rates(0)},
      {{"64KiB/s"}, rates(65536)},
      {{"64KiB"}, rates(65536)},
      {{"1MiB/s"}, rates(1048576)},
      {{"2MB/s"}, rates(2000000)},
      {{"10kB/s"}, rates(10000)},
      {{"300B/s"}, rates(300)},
      {{"300"}, rates(300)},
      {{"relist=32KiB/s", "events=4KiB/s"}, rates(0, 32768, 0, 0, 4096)},
      {{"reads=1MB", "64KiB/s", "writes=512B"}, rates(65536, 0, 1000000, 512)},
  };
  for (const Good& c : good) {
    const auto read = parse_byte_rates(c.texts);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(*read, c.rates) << c.texts.size();
  }
  struct Bad {
    std::vector<std::string> texts;
    const char* what;
  };
  const Bad bad[] = {
      {{""}, R"("": not a rate such as 64KiB/s)"},
      {{"fast"}, R"("fast": not a rate such as 64KiB/s)"},
      {{"-1KiB/s"}, R"("-1KiB/s": not a rate such as 64KiB/s)"},
      {{"1.5MiB/s"}, R"("1.5MiB/s": not a rate such as 64KiB/s)"},
      {{"64Kib/s"}, R"("64Kib/s": not a rate such as 64KiB/s)"},
      {{"64KiB/m"}, R"("64KiB/m": not a rate such as 64KiB/s)"},
      {{"relist="}, R"("": not a rate such as 64KiB/s)"},
      {{"255"}, R"("255": less than 256 bytes a second)"},
      {{"0"}, R"("0": less than 256 bytes a second)"},
      {{"9000000000000MiB"}, R"("9000000000000MiB": more than 1 TiB per second)"},
      {{"lists=1MB"}, R"("lists=1MB": no such class of traffic)"},
      {{"heartbeat=1MB"}, R"("heartbeat=1MB": heartbeats have no limit)"},
      {{"1MB", "2MB"}, R"("2MB": given twice)"},
      {{"events=1MB", "events=1MB"}, R"("events=1MB": given twice)"},
  };
  for (const Bad& c : bad) {
    const auto read = parse_byte_rates(c.texts);
    ASSERT_FALSE(read) << c.what;
    EXPECT_EQ(read.error().code, Errc::invalid);
    EXPECT_EQ(read.error().what, c.what);
  }
}

TEST(ByteBudget, EveryRequestHasItsClass) {
  struct Case {
    const char* method;
    const char* path;
    bool own;
    const char* name;
  };
  constexpr const char* lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a";
  const Case cases[] = {
      {"PUT", lease, true, "heartbeat"},
      {"GET", lease, true, "heartbeat"},
      {"PATCH", "/api/v1/nodes/a/status", false, "heartbeat"},
      {"GET", "/api/v1/nodes/a", true, "relist"},
      {"GET", "/api/v1/pods", true, "relist"},
      {"GET", "/api/v1/pods", false, "reads"},
      {"GET", "/version", false, "reads"},
      {"HEAD", "/healthz", false, "reads"},
      {"POST", "/api/v1/namespaces/a/events", false, "events"},
      {"PATCH", "/apis/events.k8s.io/v1/namespaces/a/events/e", true, "events"},
      {"GET", "/api/v1/events", false, "reads"},
      {"PATCH", "/api/v1/namespaces/a/pods/p/status", true, "writes"},
      {"DELETE", "/api/v1/namespaces/a/pods/p", false, "writes"},
      {"POST", "/elsewhere", false, "writes"},
      {"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", false, "writes"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(to_string(class_of(c.method, c.path, c.own)), c.name) << c.method << " " << c.path;
  }
}

TEST(ByteBudget, WhatIsOwedIsWaitedFor) {
  using enum UplinkClass;
  // 1000 bytes/s in total, 100 for events; the buckets hold ten seconds' worth.
  ByteBudget budget({1000, {0, 0, 0, 0, 100}}, budget_start);
  struct Step {
    Duration at;
    UplinkClass spends;
    std::uint64_t bytes;
    UplinkClass asks;
    Duration ready;  // from the start
  };
  const Step steps[] = {
      {0s, relist, 9000, relist, 0s},               // within the burst
      {0s, relist, 1000, relist, 1ms},              // bucket empty: wait for one byte
      {0s, relist, 5000, relist, 5001ms},           // in debt
      {0s, relist, 0, writes, 5001ms},              // the debt concerns the other classes, too
      {0s, heartbeat, 99999, heartbeat, 0s},        // except heartbeats
      {1s, relist, 0, relist, 5001ms},              // the debt is being paid
      {5001ms, relist, 0, relist, 5001ms},          // paid
      {20s, events, 1001, events, 20s + 20ms},      // the class has a limit of its own
      {20s, events, 0, relist, 20s},                // which concerns no other class
      {3600s, relist, 10000, events, 3600s + 1ms},  // an idle bucket holds one burst at most
  };
  for (const Step& step : steps) {
    budget.spend(step.spends, step.bytes, budget_start + step.at);
    const MonoTime ready = budget.ready_at(step.asks, budget_start + step.at);
    EXPECT_EQ(ready - budget_start, step.ready) << to_string(step.spends) << " " << step.bytes;
  }
  ByteBudget unlimited({}, budget_start);
  unlimited.spend(relist, std::size_t{1} << 31U, budget_start);
  EXPECT_EQ(unlimited.ready_at(relist, budget_start), budget_start);
}

TEST(ByteBudget, AsManyGoAtOnceAsThereIsRoomFor) {
  using enum UplinkClass;
  ByteBudget budget({1000, {0, 0, 0, 0, 100}}, budget_start);  // buckets of 10000 and 1000 bytes
  const auto ready = [&budget](UplinkClass traffic, Duration at) {
    const MonoTime when = budget.ready_at(traffic, budget_start + at);
    return when == MonoTime::max() ? -1s
                                   : std::chrono::floor<std::chrono::seconds>(when - budget_start);
  };
  budget.reserve(reads, 4000);
  EXPECT_EQ(ready(reads, 0s), 0s);
  budget.reserve(relist, 6000);
  EXPECT_EQ(ready(reads, 0s), -1s) << "everything is reserved";
  EXPECT_EQ(ready(heartbeat, 0s), 0s);
  budget.release(relist, 6000);
  EXPECT_EQ(ready(reads, 0s), 0s);
  budget.spend(reads, 12000, budget_start);
  EXPECT_EQ(ready(reads, 0s), 2s) << "in debt, whatever is reserved";
  EXPECT_EQ(ready(reads, 3s), -1s) << "paid, but the reservation exceeds the bucket";
  budget.release(reads, 4000);
  EXPECT_EQ(ready(reads, 3s), 3s) << "without debt and reservations one may always go";
  budget.reserve(events, 1500);
  EXPECT_EQ(ready(events, 10s), -1s) << "the reservation exceeds the bucket of the class";
  EXPECT_EQ(ready(reads, 10s), 10s);
  budget.release(events, 1500);
  EXPECT_EQ(ready(events, 10s), 10s);
}

}  // namespace
}  // namespace holdfast::sync::autonomy
