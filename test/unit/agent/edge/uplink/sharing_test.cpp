// Requests for the same objects share one fetch; pages come from the cache; and a byte budget
// limits the uplink.

#include <gtest/gtest.h>

#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/read.h"
#include "test/support/answered.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* services = "/api/v1/services";
constexpr const char* slices = "/apis/discovery.k8s.io/v1/endpointslices";
constexpr const char* configmaps = "/api/v1/namespaces/a/configmaps";

TEST(Sharing, WhatSeveralComponentsAskForIsFetchedOnce) {
  UplinkFixture fixture;
  for (const char* name : {"web", "db"}) {
    fixture.cloud.put("/api/v1/namespaces/a/services", name);
    fixture.cloud.put("/apis/discovery.k8s.io/v1/namespaces/a/endpointslices", name);
  }
  ASSERT_TRUE(fixture.until(LinkState::connected));
  std::vector<http::Response> watches;
  for (const std::string collection : {services, slices}) {
    std::string first;
    for (const char* agent : {"kubelet", "kube-proxy", "kubelet"}) {
      const http::Response list = fixture.ask(collection + "?resourceVersion=0&limit=500", agent);
      EXPECT_EQ(list.status, 200);
      EXPECT_TRUE(first.empty() || first == list.body);
      first = list.body;
      watches.push_back(fixture.ask(collection + "?watch=true&resourceVersion=0", agent));
      EXPECT_TRUE(watches.back().stream);
    }
  }
  fixture.time.run(30s);
  for (const std::string collection : {services, slices}) {
    EXPECT_EQ(fixture.cloud.count("GET " + collection + "?watch=true"), 1) << collection;
    EXPECT_EQ(fixture.cloud.count("GET " + collection), 2) << "one list, one watch";
  }
  // An event is received once and delivered to all watchers.
  const auto cost = [&fixture] {
    return fixture.edge->uplink().bytes().cost(sync::autonomy::UplinkClass::relist).received;
  };
  const std::uint64_t before = cost();
  fixture.cloud.put("/api/v1/namespaces/a/services", "new");
  fixture.time.run(1s);
  EXPECT_LT(cost() - before, 250u);
  for (const char* agent : {"kubelet", "kube-proxy"}) {
    const http::Response list = fixture.ask(std::string(services) + "?resourceVersion=0", agent);
    EXPECT_NE(list.body.find("\"new\""), std::string::npos);
  }
  for (const http::Response& watch : watches) watch.stream->cancel();
}

std::vector<std::string> names_in(const http::Response& list) {
  std::vector<std::string> names;
  const auto split = sync::wire::split_list(list.body);
  if (!split) return {"not a list: " + list.body};
  for (const std::string_view item : split->items) {
    names.push_back(sync::wire::read_header(item).value().name);
  }
  return names;
}

sync::wire::ListHead head_of(const http::Response& list) {
  return sync::wire::split_list(list.body).value().head;
}

using Names = std::vector<std::string>;

TEST(Sharing, PagesAreOfOneMomentOnlineAndOffline) {
  UplinkFixture fixture;
  for (const char* name : {"a", "b", "c", "d", "e"}) fixture.cloud.put(configmaps, name);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::string list = std::string(configmaps) + "?";
  ASSERT_EQ(fixture.ask(list + "resourceVersion=0").status, 200);
  fixture.time.run(1s);
  EXPECT_EQ(names_in(fixture.ask(list + "resourceVersion=0&limit=2")).size(), 5u)
      << "like an API server: resourceVersion=0 returns everything in one page";

  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  const http::Response first = fixture.ask(list + "limit=2");
  EXPECT_EQ(names_in(first), (Names{"a", "b"}));
  EXPECT_EQ(head_of(first).remaining_item_count, 3);
  const std::string token = head_of(first).continue_token;
  ASSERT_FALSE(token.empty());

  // The link returns and objects change; the pages still show the old version.
  fixture.servers[0]->restore();
  fixture.cloud.remove(configmaps, "c");
  fixture.cloud.put(configmaps, "cc");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(1s);
  const auto next = [&list](const std::string& from, const std::string& more) {
    return list + "continue=" + percent_encode(from) + more;
  };
  const http::Response second = fixture.ask(next(token, "&limit=2"));
  EXPECT_EQ(names_in(second), (Names{"c", "d"}));
  EXPECT_EQ(head_of(second).resource_version, head_of(first).resource_version);
  EXPECT_EQ(head_of(second).remaining_item_count, 1);
  const http::Response third = fixture.ask(next(head_of(second).continue_token, "&limit=2"));
  EXPECT_EQ(names_in(third), Names{"e"});
  EXPECT_EQ(head_of(third).continue_token, "");
  EXPECT_EQ(head_of(third).remaining_item_count, std::nullopt);
  EXPECT_EQ(names_in(fixture.ask(list + "resourceVersion=0")), (Names{"a", "b", "cc", "d", "e"}));

  // Expired tokens, and those of another list, run or API server, get 410 with upstream's message,
  // and our own get another token for the rest of what there is now.
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  const std::string fresh = head_of(fixture.ask(list + "limit=1")).continue_token;
  const std::string other = "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Da&";
  const auto expect_expired = [&fixture](const std::string& target) {
    const http::Response told = fixture.ask(target);
    EXPECT_EQ(told.status, 410) << target;
    EXPECT_NE(told.body.find("The provided continue parameter is too old to display a consistent "
                             "list result. You "),
              std::string::npos)
        << told.body;
    EXPECT_NE(told.body.find("\"Expired\""), std::string::npos) << told.body;
    const auto body = sync::wire::parse_json(told.body).value();
    return std::string(sync::wire::dig_text(body.as_object(), {"metadata", "continue"}));
  };
  EXPECT_NE(expect_expired(other + "limit=1&continue=" + percent_encode(fresh)), "");
  EXPECT_EQ(expect_expired(list + "limit=1&continue=eyJ2IjoibWV0YSJ9"), "");
  EXPECT_EQ(names_in(fixture.ask(next(fresh, "&limit=1"))), Names{"b"});
  fixture.time.run(5min);
  EXPECT_NE(expect_expired(next(fresh, "&limit=1")), "");
  const std::string late = head_of(fixture.ask(list + "limit=1")).continue_token;
  fixture.stop();
  fixture.start();
  fixture.time.run(1s);
  const std::string again = expect_expired(next(late, "&limit=1"));
  const http::Response rest = fixture.ask(next(again, "&limit=2"));
  EXPECT_EQ(names_in(rest), (Names{"b", "cc"}));
  EXPECT_EQ(head_of(rest).remaining_item_count, 2);
  EXPECT_EQ(names_in(fixture.ask(next(head_of(rest).continue_token, "&limit=2"))),
            (Names{"d", "e"}));
  EXPECT_EQ(names_in(fixture.ask(next(again, ""))), (Names{"b", "cc", "d", "e"})) << "no limit";
}

TEST(Sharing, ABudgetDelaysEverythingButHeartbeats) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) {
    options.uplink_budget = {"relist=1KiB/s", "reads=512B/s", "events=256B/s"};
  }});
  const std::string large = R"({"data":{"a":")" + std::string(20'000, 'x') + R"("}})";
  fixture.cloud.put(configmaps, "one", large);
  fixture.cloud.put("/api/v1/namespaces/b/configmaps", "two", large);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const auto cost = [&fixture](sync::autonomy::UplinkClass traffic) {
    return fixture.edge->uplink().bytes().cost(traffic);
  };
  // The first list exceeds the burst of 10 KiB; the second one has to wait for the budget.
  const MonoTime began = fixture.time.clock().mono();
  EXPECT_EQ(fixture.ask(std::string(configmaps) + "?resourceVersion=0").status, 200);
  EXPECT_LE(fixture.time.clock().mono() - began, 1s);
  EXPECT_GT(cost(sync::autonomy::UplinkClass::relist).received, 20'000u);
  const std::size_t from = fixture.cloud.asked.size();
  EXPECT_EQ(fixture.ask("/api/v1/namespaces/b/configmaps?resourceVersion=0").status, 503)
      << "a read does not wait for the budget";
  fixture.time.run(5s);
  EXPECT_EQ(fixture.cloud.count("GET /api/v1/namespaces/b", from), 0);
  EXPECT_EQ(fixture.state(), LinkState::connected) << "waiting is no fault of the link";
  const int renewals = static_cast<int>(fixture.cloud.renewals.size());
  fixture.time.run(30s);
  EXPECT_GE(static_cast<int>(fixture.cloud.renewals.size()) - renewals, 3);
  EXPECT_GE(fixture.cloud.count("GET /api/v1/namespaces/b", from), 1);
  EXPECT_EQ(fixture.ask("/api/v1/namespaces/b/configmaps?resourceVersion=0").status, 200);
  EXPECT_GT(cost(sync::autonomy::UplinkClass::relist).delayed_requests, 0u);
  EXPECT_EQ(cost(sync::autonomy::UplinkClass::heartbeat).delayed_requests, 0u);

  // Forwarded requests have their own budget; beyond it they get 429 with Retry-After.
  EXPECT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps/one", "kubectl").status, 200);
  const http::Response spent = fixture.ask("/api/v1/namespaces/a/configmaps/one", "kubectl");
  EXPECT_EQ(spent.status, 429);
  EXPECT_EQ(spent.headers.get("Retry-After"), "1");
  EXPECT_NE(spent.body.find("budget is spent for now: reads"), std::string::npos) << spent.body;
  http::Request event{.method = http::Method::post,
                      .target = "/api/v1/namespaces/a/events",
                      .headers = {{"User-Agent", "kubelet/v1"}},
                      .body = R"({"message":")" + std::string(4000, 'x') + "\"}"};
  EXPECT_EQ(fixture.ask(event).status, 200);
  EXPECT_EQ(fixture.ask(event).status, 429);
  EXPECT_EQ(fixture.state(), LinkState::connected);

  // All bytes are counted, by class.
  const auto sent = fixture.metric("holdfast_edge_uplink_class_sent_bytes_total");
  EXPECT_EQ(sent.size(), sync::autonomy::uplink_classes);
  EXPECT_EQ(fixture.metric("holdfast_edge_uplink_requests_delayed_total").size(),
            sync::autonomy::uplink_classes);
  EXPECT_GT(cost(sync::autonomy::UplinkClass::events).sent, 4000u);
  EXPECT_GT(cost(sync::autonomy::UplinkClass::heartbeat).sent, 100u);
  EXPECT_EQ(cost(sync::autonomy::UplinkClass::writes).sent, 0u);
  const http::Traffic all = fixture.edge->uplink().traffic();
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < sync::autonomy::uplink_classes; ++i) {
    const auto traffic = static_cast<sync::autonomy::UplinkClass>(i);
    counted += cost(traffic).sent + cost(traffic).received;
  }
  const auto exact = static_cast<double>(all.sent + all.received);
  EXPECT_NEAR(static_cast<double>(counted), exact, exact * 0.1);
  EXPECT_EQ(fixture.metric("holdfast_edge_disk_written_bytes_total").size(), 1u);
  const auto databases = fixture.metric("holdfast_edge_database_written_bytes_total");
  EXPECT_EQ(databases.size(), 2u);
  const auto written = [&databases](std::string_view line) {
    return std::count_if(databases.begin(), databases.end(),
                         [line](const std::string& each) { return each.starts_with(line); });
  };
  EXPECT_EQ(written("{database=\"cache.db\"} "), 1);
  EXPECT_EQ(written("{database=\"cache.db\"} 0"), 0);
  EXPECT_EQ(written("{database=\"outbox.db\"} "), 1);
}

// While there is budget left, one slow read must not delay the others.
TEST(Sharing, ASlowReadUnderABudgetHoldsUpNobody) {
  for (const bool roomy : {true, false}) {
    SCOPED_TRACE(roomy);
    UplinkFixture fixture({.set = [roomy](EdgeOptions& options) {
      options.uplink_budget = {roomy ? "reads=64KiB/s" : "reads=1KiB/s"};
    }});
    fixture.cloud.put(configmaps, "one");
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.servers[0]->special = [](const http::Request& asked) -> std::optional<http::Response> {
      if (asked.path() != "/slow") return std::nullopt;
      return http::Response{.status = 0};
    };
    http::Client slow(http::Endpoint{{"127.0.0.1", fixture.edge->port()}});
    http::Response late;
    loop::Tasks tasks(fixture.time.executor());
    const MonoTime began = fixture.time.clock().mono();
    const http::Request never{.target = "/slow"};
    tasks.spawn("slow", test::answer_into(slow, never, began + 60s, late));
    fixture.time.run(1s);
    EXPECT_EQ(fixture.ask(std::string(configmaps) + "/one", "kubectl").status, 200);
    const Duration took = fixture.time.clock().mono() - began;
    if (roomy) {
      EXPECT_LT(took, 2s);
    } else {
      EXPECT_GT(took, 9s)
          << "the cost of a running read is unknown, and the budget has room for one";
    }
    fixture.time.complete(tasks.join());
    EXPECT_EQ(late.status, 504);
  }
}

TEST(Sharing, ARejoinOverATinyBudgetTakesItsTimeAndSucceeds) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) { options.uplink_budget = {"1KiB/s"}; }});
  // The debt of each list takes longer to pay than a rejoin step may take.
  const std::string large = R"({"data":{"a":")" + std::string(80'000, 'x') + R"("}})";
  ASSERT_TRUE(fixture.until(LinkState::connected));
  for (const char* space : {"a", "b", "c"}) {
    const std::string collection = std::string("/api/v1/namespaces/") + space + "/configmaps";
    fixture.cloud.put(collection, "one", large);
    fixture.time.run(90s);
    EXPECT_EQ(fixture.ask(collection + "?resourceVersion=0").status, 200);
  }
  fixture.time.run(90s);
  fixture.servers[0]->cut("black_hole");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  fixture.cloud.compact();  // so that all scopes are listed again
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::rejoining, 60s));
  const auto took = fixture.until(LinkState::connected, 10min);
  ASSERT_TRUE(took) << fixture.reason();
  EXPECT_GE(*took, 120s) << "two debts of 80 KB at 1 KiB/s, less the burst";
  EXPECT_LE(*took, 300s);
}

}  // namespace
}  // namespace holdfast::agent::uplink
