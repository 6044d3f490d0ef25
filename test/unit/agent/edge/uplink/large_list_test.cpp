// Large lists from the cache: whole, as tables, and in pages.

#include <gtest/gtest.h>

#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/read.h"
#include "test/support/answered.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

std::string maps_of(const std::string& namespace_name) {
  return "/api/v1/namespaces/" + namespace_name + "/configmaps";
}

// Creates 10 ConfigMaps in the namespace, of 500 kB each, and has them cached.
void fill(UplinkFixture& fixture, const std::string& namespace_name) {
  const std::string data = R"({"data":{"a":")" + std::string(500'000, 'x') + R"("}})";
  for (int i = 0; i < 10; ++i) {
    fixture.cloud.put(maps_of(namespace_name), "m" + std::to_string(i), data);
  }
  EXPECT_EQ(fixture.ask(maps_of(namespace_name) + "?resourceVersion=0").status, 200);
  fixture.time.run(1s);
}

http::Response ask_as(UplinkFixture& fixture, const std::string& accept) {
  return fixture.ask({.target = maps_of("a") + "?resourceVersion=0",
                      .headers = {{"User-Agent", "kubelet/v1"}, {"Accept", accept}}});
}

TEST(LargeList, FromTheCacheIsTheOneOfTheCloudInEveryForm) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fill(fixture, "a");
  const http::Response before = ask_as(fixture, "application/json");
  fixture.cut_link();

  const http::Response json = ask_as(fixture, "application/json");
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.headers.get("Content-Length"), std::to_string(json.body.size()));
  EXPECT_GT(json.body.size(), 5'000'000u);
  EXPECT_TRUE(json.body == before.body);
  const auto list = sync::wire::split_list(json.body);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->items.size(), 10u);

  const http::Response protobuf = ask_as(fixture, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(protobuf.headers.get("Content-Length"), std::to_string(protobuf.body.size()));
  const auto encoded = sync::wire::split_protobuf_list(protobuf.body);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->items.size(), 10u);

  const http::Response table =
      ask_as(fixture, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  const auto parsed = sync::wire::parse_json(table.body);
  ASSERT_TRUE(parsed) << table.body.substr(0, 300);
  EXPECT_EQ(sync::wire::dig_text(parsed->as_object(), {"kind"}), "Table");
  EXPECT_EQ(parsed->as_object().at("rows").as_array().size(), 10u);
}

TEST(LargeList, SnapshotsForPagesAreSharedAndDisplaceEachOther) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fill(fixture, "a");
  fill(fixture, "b");
  fixture.cut_link();
  const auto page = [&fixture](const std::string& space, const std::string& token) {
    const std::string next = token.empty() ? "" : "&continue=" + percent_encode(token);
    return fixture.ask(maps_of(space) + "?limit=4" + next);
  };
  const auto token_of = [](const http::Response& response) {
    return sync::wire::split_list(response.body).value().head.continue_token;
  };
  // One alone can be read to its end.
  const std::string first = token_of(page("a", ""));
  const std::string second = token_of(page("a", first));
  const http::Response last = page("a", second);
  EXPECT_EQ(sync::wire::split_list(last.body).value().items.size(), 2u);
  EXPECT_EQ(token_of(last), "");
  // Six clients read it at the same time, and share its snapshot.
  std::vector<std::string> tokens;
  for (int client = 0; client < 6; ++client) tokens.push_back(token_of(page("a", "")));
  for (const char* expected : {"4 more", "2"}) {
    for (std::string& token : tokens) {
      const http::Response next = page("a", token);
      ASSERT_EQ(next.status, 200) << next.body;
      token = token_of(next);
      const std::size_t items = sync::wire::split_list(next.body).value().items.size();
      EXPECT_EQ(std::to_string(items) + (token.empty() ? "" : " more"), expected);
    }
  }
  // Snapshots of both would have more than 8 MiB: the older one goes.
  const std::string of_a = token_of(page("a", ""));
  const std::string of_b = token_of(page("b", ""));
  EXPECT_EQ(page("a", of_a).status, 410);
  EXPECT_EQ(page("b", of_b).status, 200);
}

}  // namespace
}  // namespace holdfast::agent::uplink
