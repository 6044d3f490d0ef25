// The first list of what is to be cached, when it is large or late: its readers wait for it, and it
// leaves the line to a client that gets the same list.

#include <gtest/gtest.h>

#include "platform/loop/tasks.h"
#include "test/unit/agent/edge/uplink/large_answer.h"

namespace holdfast::agent::uplink::large_answer {
namespace {

// The agent's own lists may take as long as they move, too.
TEST(FirstList, IsCachedOverANarrowLink) {
  LargeFixture fixture;
  fixture.narrow(100'000);
  fixture.cloud.put(maps, "large", R"({"data":{"a":")" + std::string(3'000'000, 'x') + R"("}})");
  (void)fixture.ask_for(maps + "?resourceVersion=0", "kubelet");
  fixture.time.run(2min);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  fixture.cut_link();
  const Got got = fixture.ask_for(maps + "?resourceVersion=0", "kubelet");
  EXPECT_EQ(got.status, 200);
  EXPECT_GE(got.bytes, 3'000'000u);
}

// Who asks for what is to be cached waits for the first list, as with an API server, whose own
// cache is filled as slowly. It is not sent twice for that.
TEST(FirstList, IsAwaited) {
  const struct {
    const char* agent;  // a filter applies to the kubelet's ConfigMaps
    const char* query;
    std::int64_t bytes_per_s;
    Duration latency;  // of each answer
    std::size_t bytes;
    Duration least;
    Duration most;
  } rows[] = {
      {"kubelet", "?resourceVersion=0", 100'000, 0s, 3'000'000, 30s, 35s},
      {"kubelet", "", 100'000, 0s, 3'000'000, 30s, 35s},
      {"flanneld", "?resourceVersion=0", 100'000, 0s, 3'000'000, 30s, 35s},
      {"flanneld", "", 100'000, 0s, 3'000'000, 30s, 35s},
      {"kubelet", "?resourceVersion=0", 0, 8s, 3'000, 8s, 10s},
      {"kubelet", "", 0, 8s, 3'000, 8s, 10s},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.agent) + row.query + " of " + std::to_string(row.bytes));
    LargeFixture fixture;
    fixture.narrow(row.bytes_per_s);
    fixture.servers[0]->latency = row.latency;
    fixture.time.run(2min);
    ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
    fixture.time.run(2min);
    const MonoTime since = fixture.edge->uplink().link().since();
    const std::string data = std::string(row.bytes, 'x');
    fixture.cloud.put(maps, "large", R"({"data":{"a":")" + data + R"("}})");
    const Got got = fixture.ask_for(maps + row.query, row.agent);
    EXPECT_EQ(got.status, 200);
    EXPECT_GE(got.bytes, row.bytes);
    EXPECT_EQ(got.error, "");
    EXPECT_GE(got.whole, row.least);
    EXPECT_LE(got.whole, row.most);
    EXPECT_EQ(fixture.edge->uplink().link().since(), since) << fixture.reason();
  }
}

// A filter that needs the Services waits for them, too.
TEST(FirstList, IsAwaitedByFilters) {
  LargeFixture fixture;
  fixture.narrow(100'000);
  const std::string services = "/api/v1/namespaces/a/services";
  const std::string data(3'000'000, 'x');
  fixture.cloud.put(services, "web", R"({"spec":{},"data":")" + data + "\"}");
  const std::string slices = "/apis/discovery.k8s.io/v1";
  fixture.cloud.put(
      slices + "/namespaces/a/endpointslices", "web-1",
      R"({"metadata":{"labels":{"kubernetes.io/service-name":"web"}},"endpoints":[]})");
  const Got got = fixture.ask_for(slices + "/endpointslices?resourceVersion=0", "kube-proxy");
  EXPECT_EQ(got.status, 200);
  EXPECT_GE(got.whole, 30s);
  EXPECT_LE(got.whole, 35s);
}

// Local reads end soon after the link is lost, however long they may wait for a list that arrives.
TEST(FirstList, IsNotAwaitedWithoutALink) {
  LargeFixture fixture;
  fixture.serve(secrets, 3 * mebibyte, mebibyte);
  Got got;
  loop::Tasks tasks(fixture.time.executor());
  tasks.spawn("read", fixture.read(secrets + "?resourceVersion=0", "kubelet", 0s, got));
  fixture.time.run(5s);
  EXPECT_EQ(got.status, 0) << "it waits for the list, which stops in its middle";
  const MonoTime cut = fixture.time.clock().mono();
  fixture.servers[0]->cut("black_hole");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  fixture.time.complete(tasks.join());
  EXPECT_EQ(got.status, 503);
  EXPECT_LE(fixture.time.clock().mono() - cut, 20s);
}

// The agent's own list of it does not take half of the line.
TEST(FirstList, ComesToItsClientFirst) {
  LargeFixture fixture;
  fixture.narrow(150'000);
  fixture.serve(secrets, 3 * mebibyte);
  const Got got = fixture.ask_for(secrets, "kubelet");
  EXPECT_EQ(got.bytes, 3 * mebibyte);
  EXPECT_LE(got.whole, 25s);
  EXPECT_EQ(fixture.lists, 1);
  fixture.time.run(30s);
  EXPECT_EQ(fixture.lists, 2);
  fixture.cut_link();
  EXPECT_GE(fixture.ask_for(secrets, "kubelet").bytes, 3 * mebibyte);
}

TEST(FirstList, DoesNotWaitLongForWhoReadsSlowlyOrNotAtAll) {
  for (const bool goes_away : {false, true}) {
    SCOPED_TRACE(goes_away);
    LargeFixture fixture;
    fixture.serve(secrets, 4 * mebibyte);
    Got got;
    loop::Tasks tasks(fixture.time.executor());
    tasks.spawn("read", fixture.read(secrets, "kubelet", 5s, got));
    fixture.time.run(30s);
    EXPECT_EQ(fixture.lists, 1);
    if (goes_away) tasks.cancel();
    fixture.time.run(goes_away ? 5s : 35s);
    EXPECT_EQ(fixture.lists, 2);
    EXPECT_GE(fixture.ask_for(secrets + "?resourceVersion=0", "kubelet").bytes, 4 * mebibyte);
    EXPECT_EQ(fixture.lists, 2) << "from the cache";
    tasks.cancel();
    fixture.time.complete(tasks.join());
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink::large_answer
