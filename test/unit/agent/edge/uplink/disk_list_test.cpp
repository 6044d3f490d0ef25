// A list that is too large for memory: it is kept in cache.db, and served from there.

#include <gtest/gtest.h>

#include "agent/edge/admin/endpoints.h"
#include "platform/random.h"
#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/read.h"
#include "test/support/captured_log.h"
#include "test/unit/agent/edge/uplink/damage.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::disk_list {
namespace {

using damaged::damage;
using damaged::name_of;
using sync::autonomy::LinkState;

const std::string maps = "/api/v1/namespaces/a/configmaps";
constexpr const char* component = "flanneld";  // whose ConfigMaps no filter changes
constexpr int number_of_maps = 200;
constexpr std::size_t map_bytes = 20'000;
constexpr std::int64_t list_bytes_max = 1L << 20;

// An agent that keeps at most 1 MiB of a list in memory, and 4 MB of ConfigMaps that cannot be
// compressed.
struct DiskList : testing::Test {
  DiskList() {
    Random random(7);
    noise_ = random.text(50'000, "abcdefghijklmnopqrstuvwxyz0123456789");
    for (int number = 0; number < number_of_maps; ++number) put(number, "first");
    EXPECT_TRUE(fixture.until(LinkState::connected));
    (void)fixture.ask(maps + "?resourceVersion=0", component);
    fixture.time.run(1min);
    EXPECT_NE(fixture.admin("/v1/scopes").find(R"("on_disk":true)"), std::string::npos);
    EXPECT_EQ(fixture.admin("/v1/scopes").find("too_large"), std::string::npos);
  }

  void put(int number, const std::string& word) {
    const auto at = static_cast<std::size_t>(number) * 101 % 30'000;
    fixture.cloud.put(
        maps, name_of(number),
        R"({"data":{"word":")" + word + R"(","noise":")" + noise_.substr(at, map_bytes) + "\"}}");
  }

  // The names of the list with their words: "p0=first p1=first ..."; the status if it is not 200.
  std::string listed(const std::string& query = "?resourceVersion=0") {
    const http::Response answer = fixture.ask(maps + query, component);
    if (answer.status != 200) return std::to_string(answer.status);
    const auto list = sync::wire::split_list(answer.body);
    if (!list) return list.error().what;
    next_page = list->head.continue_token;
    std::string text;
    for (const std::string_view item : list->items) text += shown(item) + " ";
    return text;
  }
  static std::string shown(std::string_view item) {
    const auto parsed = sync::wire::parse_json(item);
    if (!parsed) return parsed.error().what;
    const auto& object = parsed->as_object();
    EXPECT_EQ(sync::wire::dig_text(object, {"data", "noise"}).size(), map_bytes);
    return std::string(sync::wire::dig_text(object, {"metadata", "name"})) + "=" +
           std::string(sync::wire::dig_text(object, {"data", "word"}));
  }
  // The same as it should be, in the order of names; `changed` has the words that are not "first",
  // and "" for what is gone.
  static std::string expected(const std::map<std::string, std::string>& changed = {}) {
    std::map<std::string, std::string> all;
    for (int number = 0; number < number_of_maps; ++number) all[name_of(number)] = "first";
    for (const auto& [name, word] : changed) all[name] = word;
    std::string text;
    for (const auto& [name, word] : all) {
      if (!word.empty()) text += name + "=" + word + " ";
    }
    return text;
  }

  // What a watch sends until it ends, and its largest piece.
  std::string watched(const std::string& query, std::size_t& largest) {
    std::string frames;
    fixture.time.complete(watch(query, frames, largest));
    return frames;
  }
  asio::awaitable<void> watch(std::string query, std::string& frames, std::size_t& largest) {
    http::Client client(http::Endpoint{read_endpoints(fixture.options.data_dir).value().proxy});
    http::Request request{.target = maps + query, .headers = {{"User-Agent", component}}};
    const auto response =
        co_await client.open(std::move(request), fixture.time.clock().mono() + 60s);
    CHECK(response && response->stream);
    for (;;) {
      const auto piece = co_await response->stream->next();
      if (!piece || piece->empty()) co_return;
      largest = std::max(largest, piece->size());
      frames += *piece;
    }
  }

  void restart() {
    fixture.stop();
    fixture.start();
    fixture.time.run(1s);
  }
  [[nodiscard]] std::size_t memory() { return fixture.edge->scopes().memory_bytes(); }
  [[nodiscard]] std::filesystem::path file() const {
    return std::filesystem::path(fixture.options.data_dir) / "cache.db";
  }

  UplinkFixture fixture{{.set = [](EdgeOptions& options) {
    options.list_bytes_max = list_bytes_max;
    options.cache_agents = {"kubelet", component};
  }}};
  std::string next_page;

 private:
  std::string noise_;
};

TEST_F(DiskList, IsServedConnectedOfflineAndAfterARestart) {
  for (const char* when : {"connected", "offline", "restarted offline"}) {
    SCOPED_TRACE(when);
    if (when == std::string_view("offline")) fixture.cut_link();
    if (when == std::string_view("restarted offline")) restart();
    EXPECT_EQ(listed(), expected());
    const http::Response one = fixture.ask(maps + "/p7?resourceVersion=0", component);
    EXPECT_EQ(one.status, 200);
    EXPECT_EQ(shown(one.body), "p7=first");
    EXPECT_EQ(fixture.ask(maps + "/none?resourceVersion=0").status, 404);
    EXPECT_LT(memory(), 300'000u);
  }
  const std::size_t before = fixture.cloud.asked.size();
  fixture.restore_link();
  fixture.time.run(1min);
  EXPECT_EQ(fixture.cloud.count_lists(maps, before), 0) << "its watch continues";
  put(3, "second");
  fixture.time.run(10s);
  EXPECT_EQ(listed(), expected({{"p3", "second"}}));
}

TEST_F(DiskList, FollowsItsWatch) {
  const std::size_t before = fixture.cloud.asked.size();
  for (int round = 0; round < 5; ++round) {
    for (int number = 0; number < 50; ++number) put(number, "round" + std::to_string(round));
    fixture.time.run(5s);
    EXPECT_LT(memory(), 1'300'000u) << "with the events for watches that resume";
  }
  fixture.cloud.remove(maps, "p60");
  put(300, "new");
  fixture.time.run(5s);
  std::map<std::string, std::string> changed{{"p60", ""}, {"p300", "new"}};
  for (int number = 0; number < 50; ++number) changed[name_of(number)] = "round4";
  EXPECT_EQ(listed(), expected(changed));
  EXPECT_EQ(fixture.cloud.count_lists(maps, before), 0);
  fixture.cut_link();
  restart();
  EXPECT_EQ(listed(), expected(changed));
}

TEST_F(DiskList, AListAnewChangesOnlyWhatIsDifferent) {
  fixture.cut_link();
  for (int number = 0; number < 3; ++number) put(number, "second");
  fixture.cloud.remove(maps, "p60");
  fixture.cloud.compact();
  const auto written = [this] {
    std::uint64_t bytes = 0;
    for (const auto& line : fixture.metric("holdfast_edge_database_written_bytes_total")) {
      const auto space = line.find(' ');
      if (line.starts_with("{database=\"cache.db\"}")) {
        bytes = parse_int<std::uint64_t>(line.substr(space + 1)).value_or(0);
      }
    }
    return bytes;
  };
  const std::uint64_t before = written();
  EXPECT_GT(before, 2'500'000u);
  fixture.restore_link();
  fixture.time.run(1min);
  const std::string all =
      expected({{"p0", "second"}, {"p1", "second"}, {"p2", "second"}, {"p60", ""}});
  EXPECT_EQ(listed(), all);
  EXPECT_LT(written() - before, 500'000u) << "flash wears out";
  fixture.cut_link();
  restart();
  EXPECT_EQ(listed(), all);
}

TEST_F(DiskList, OfFewObjectsIsInMemoryAgain) {
  for (int number = 20; number < number_of_maps; ++number) {
    fixture.cloud.remove(maps, name_of(number));
  }
  fixture.time.run(10s);
  EXPECT_NE(fixture.admin("/v1/scopes").find(R"("on_disk":true)"), std::string::npos)
      << "until it is listed again";
  fixture.cut_link();
  fixture.cloud.compact();
  fixture.restore_link();
  fixture.time.run(1min);
  EXPECT_EQ(fixture.admin("/v1/scopes").find(R"("on_disk":true)"), std::string::npos);
  EXPECT_GT(memory(), 20 * map_bytes);
  std::map<std::string, std::string> changed;
  for (int number = 20; number < number_of_maps; ++number) changed[name_of(number)] = "";
  EXPECT_EQ(listed(), expected(changed));
  put(3, "second");
  fixture.time.run(10s);
  changed["p3"] = "second";
  fixture.cut_link();
  EXPECT_EQ(listed(), expected(changed));
  restart();
  EXPECT_EQ(listed(), expected(changed)) << "its rows are complete";
}

TEST_F(DiskList, PagesShowOneState) {
  fixture.cut_link();
  std::string read = listed("?limit=80");
  fixture.restore_link();
  for (const int number : {0, 150, 151}) put(number, "second");
  fixture.cloud.remove(maps, "p199");
  fixture.time.run(10s);
  ASSERT_EQ(listed(),
            expected({{"p0", "second"}, {"p150", "second"}, {"p151", "second"}, {"p199", ""}}));
  // What the snapshot needs was taken back into memory.
  fixture.cut_link();
  (void)listed("?limit=80");
  const std::string first_token = next_page;
  EXPECT_NE(first_token, "");
  put(20, "third");
  fixture.restore_link();
  fixture.time.run(10s);
  fixture.cut_link();
  const std::string second = listed("?limit=80&continue=" + percent_encode(first_token));
  EXPECT_NE(second.find("p20=first"), std::string::npos) << second;
  EXPECT_EQ(second.find("third"), std::string::npos);
  EXPECT_NE(listed().find("p20=third"), std::string::npos);
}

TEST_F(DiskList, AWatchBeginsWithAllObjects) {
  fixture.cut_link();
  std::size_t largest = 0;
  const std::string frames = watched(
      "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=1"
      "&resourceVersionMatch=NotOlderThan&resourceVersion=0",
      largest);
  EXPECT_EQ(std::count(frames.begin(), frames.end(), '\n'), number_of_maps + 1);
  EXPECT_NE(frames.find("k8s.io/initial-events-end"), std::string::npos);
  EXPECT_LT(largest, 200'000u) << "piece by piece";
}

// The kubelet's ConfigMaps go through filters.
TEST_F(DiskList, IsFilteredItemByItem) {
  fixture.cut_link();
  const http::Response plain = fixture.ask(maps + "?resourceVersion=0", component);
  const http::Response filtered = fixture.ask(maps + "?resourceVersion=0", "kubelet");
  ASSERT_EQ(filtered.status, 200) << filtered.body.substr(0, 300);
  EXPECT_TRUE(filtered.body == plain.body) << "none of them concerns a filter";
}

TEST_F(DiskList, WhatNeedsItWholeIsRefused) {
  fixture.cut_link();
  const auto as_table = [this](const std::string& query) {
    return fixture.ask(
        {.target = maps + query,
         .headers = {{"User-Agent", component},
                     {"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}}});
  };
  const http::Response whole = as_table("?resourceVersion=0");
  EXPECT_EQ(whole.status, 507);
  EXPECT_NE(whole.body.find("bytes"), std::string::npos) << whole.body;
  EXPECT_EQ(as_table("?limit=40").status, 200) << "kubectl asks for pages";
}

TEST_F(DiskList, ADamagedFileIsNoEmptyList) {
  fixture.cut_link();
  test::CapturedLog log;
  damage(file(), 0, 100 << 20);
  damage(file().string() + "-wal", 0, 100 << 20);
  const std::string answer = listed();
  EXPECT_TRUE(answer == "0" || answer == "500" || answer == "503") << answer.substr(0, 200);
  fixture.time.run(1min);
  EXPECT_EQ(listed(), "503") << "never an empty or partial list";
  EXPECT_NE(log.take().find("its objects in the cache are lost"), std::string::npos);
  fixture.restore_link();
  (void)listed();
  fixture.time.run(1min);
  EXPECT_EQ(listed(), expected());
  fixture.cut_link();
  restart();
  EXPECT_EQ(listed(), expected());
}

TEST_F(DiskList, SurvivesThatItsFileIsRemoved) {
  std::filesystem::remove(file());
  EXPECT_EQ(listed(), expected());
  put(3, "second");
  fixture.time.run(1min);
  EXPECT_EQ(listed(), expected({{"p3", "second"}}));
  fixture.cut_link();
  restart();
  EXPECT_EQ(listed(), expected({{"p3", "second"}}));
}

// The list was in memory, and grows while the agent is cut off. The cut that follows in the middle
// of the new list must not cost the old one.
TEST(DiskListBefore, ABrokenOffListLeavesTheOldOneAsItWas) {
  UplinkFixture fixture{{.set = [](EdgeOptions& options) {
    options.list_bytes_max = list_bytes_max;
    options.cache_agents = {component};
  }}};
  const auto put = [&fixture](int number) {
    fixture.cloud.put(maps, name_of(number),
                      R"({"data":{"a":")" + std::string(map_bytes, 'x') + "\"}}");
  };
  for (int number = 0; number < 40; ++number) put(number);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.ask(maps + "?resourceVersion=0", component).status, 200);
  fixture.time.run(1min);
  EXPECT_EQ(fixture.admin("/v1/scopes").find(R"("on_disk":true)"), std::string::npos);
  fixture.cut_link();
  for (int number = 40; number < number_of_maps; ++number) put(number);
  fixture.cloud.compact();
  int pages = 0;
  fixture.servers[0]->special = [&pages](const http::Request& request) {
    const bool is_page = request.target.find("continue=") != std::string::npos;
    std::optional<http::Response> never;
    if (request.path() == maps && is_page && ++pages > 2) never = http::Response{.status = 0};
    return never;
  };
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.time.run_until(2min, [&pages] { return pages > 2; }));
  fixture.cut_link();
  fixture.time.run(1min);
  const http::Response answer = fixture.ask(maps + "?resourceVersion=0", component);
  ASSERT_EQ(answer.status, 200) << answer.body.substr(0, 300);
  EXPECT_EQ(sync::wire::split_list(answer.body).value().items.size(), 40u);
}

}  // namespace
}  // namespace holdfast::agent::uplink::disk_list
