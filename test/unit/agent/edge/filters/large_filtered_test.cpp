// Lists that filters change and that are too large to be read whole: clients that ask for pages get
// them in pages.

#include <gtest/gtest.h>

#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "test/unit/agent/edge/filters/filter_fixture.h"

namespace holdfast::agent::filtered::large {
namespace {

constexpr std::size_t mebibyte = 1UL << 20;
constexpr int services_made = 24;
const std::string services = "/api/v1/services";
const std::string in_ns = "/api/v1/namespaces/ns/services";
const Client proxy{"kube-proxy"};
const Client proxy_protobuf{"kube-proxy", true};

EdgeOptions with_lists_of(std::size_t bytes) {
  EdgeOptions options;
  options.list_bytes_max = static_cast<std::int64_t>(bytes);
  return options;
}

// A Service of about `kibibytes`, which is hidden from the node's pool if `hidden`.
std::string service(const std::string& name, std::size_t kibibytes, bool hidden) {
  const std::string pools = hidden ? "beijing" : "hangzhou";
  return R"({"metadata":{"name":")" + name + R"(","annotations":{"nodeport.openyurt.io/listen":")" +
         pools + R"(","text":")" + std::string(kibibytes << 10, 'x') +
         R"("}},"spec":{"type":"NodePort","ports":[{"name":"https","port":80}]}})";
}

struct Page {
  int status = 0;
  std::size_t bytes = 0;
  std::string names;
  std::string continue_token;
};

Page page_of(const http::Response& answer) {
  Page page{.status = answer.status, .bytes = answer.body.size()};
  if (answer.status != 200) return page;
  const bool protobuf = sync::wire::is_protobuf(answer.body);
  const sync::wire::ListBytes list = (protobuf ? sync::wire::split_protobuf_list(answer.body)
                                               : sync::wire::split_list(answer.body))
                                         .value();
  for (const std::string_view item : list.items) {
    const std::string object =
        protobuf ? sync::wire::enveloped("v1", "Service", item) : std::string(item);
    page.names += sync::wire::read_any_header(object).value().name + " ";
  }
  page.continue_token = list.head.continue_token;
  return page;
}

struct AllPages {
  std::string names;
  std::size_t pages = 0;
  std::size_t largest = 0;
};

// Reads a list as client-go does: while there is a continue token, it asks for the next page, with
// the same limit and without a version.
AllPages read_all(FilterFixture& fixture, const Client& client, const std::string& limit,
                  const std::string& version) {
  AllPages all;
  std::string query = "?limit=" + limit + version;
  for (int i = 0; i < services_made; ++i) {
    const Page page = page_of(fixture.ask(client, services + query));
    EXPECT_EQ(page.status, 200) << client.component << query;
    all.names += page.names;
    ++all.pages;
    all.largest = std::max(all.largest, page.bytes);
    if (page.status != 200 || page.continue_token.empty()) return all;
    query = "?limit=" + limit + "&continue=" + page.continue_token;
  }
  ADD_FAILURE() << "the list has no end";
  return all;
}

void expect_pages(EdgeOptions options) {
  FilterFixture fixture(std::move(options));
  std::string visible;
  for (int i = 0; i < services_made; ++i) {
    const std::string name = "s" + std::to_string(10 + i);
    fixture.on_server("POST", in_ns, service(name, 100, i % 3 == 0));
    if (i % 3 != 0) visible += name + " ";
  }
  for (const Client& client : {proxy, proxy_protobuf}) {
    for (const char* version : {"&resourceVersion=0", ""}) {
      for (const char* limit : {"500", "24", "9"}) {
        SCOPED_TRACE(client.component + version + " limit " + limit);
        const AllPages all = read_all(fixture, client, limit, version);
        EXPECT_EQ(all.names, visible);
        // Any state comes from the cache, once it has the list, and without pages, as from the API
        // server's own cache.
        if (*version != '\0') continue;
        EXPECT_GE(all.pages, 3u);
        EXPECT_LE(all.largest, mebibyte);
      }
    }
  }
}

TEST(LargeFiltered, AListComesInPagesToAClientThatAsksForThem) {
  expect_pages(with_lists_of(mebibyte));
}

TEST(LargeFiltered, SoDoesOneOfAClientWhoseReadsAreNotCached) {
  EdgeOptions options = with_lists_of(mebibyte);
  options.cache_agents = {"kubelet"};
  expect_pages(std::move(options));
}

TEST(LargeFiltered, AListWithoutALimitIsAnErrorThatNamesTheLimit) {
  FilterFixture fixture(with_lists_of(mebibyte));
  for (int i = 0; i < services_made; ++i) {
    fixture.on_server("POST", in_ns, service("s" + std::to_string(i), 100, false));
  }
  const http::Response whole = fixture.ask(proxy, services);
  EXPECT_EQ(whole.status, 507);
  EXPECT_NE(whole.body.find("1048576"), std::string::npos) << whole.body;
}

// A client that is refused asks again and again, and each time a list would be read in vain.
TEST(LargeFiltered, WhatWasTooLargeIsNotReadAgainForAMinute) {
  EdgeOptions options = with_lists_of(mebibyte);
  options.cache_agents = {"kubelet"};  // The agent asks for nothing of its own.
  FilterFixture fixture(std::move(options));
  for (int i = 0; i < services_made; ++i) {
    fixture.on_server("POST", in_ns, service("s" + std::to_string(i), 100, false));
  }
  const auto asked_for = [&fixture](const std::string& query) {
    fixture.asked.clear();
    const int status = fixture.ask(proxy, services + query).status;
    return std::pair<int, long>(status,
                                std::count(fixture.asked.begin(), fixture.asked.end(), services));
  };
  EXPECT_EQ(asked_for(""), std::pair(507, 1L));
  EXPECT_EQ(asked_for(""), std::pair(507, 0L));
  EXPECT_EQ(asked_for("?labelSelector=a%3Db"), std::pair(200, 1L)) << "that is another list";
  EXPECT_EQ(asked_for("?limit=500"), std::pair(200, 3L)) << "pages of 500, 62 and 7";
  EXPECT_EQ(asked_for("?limit=500"), std::pair(200, 1L)) << "a page of 7";
  fixture.time.run(61s);
  EXPECT_EQ(asked_for(""), std::pair(507, 1L)) << "objects may have been deleted";
}

TEST(LargeFiltered, SmallerPagesAreTriedDownToASingleObject) {
  EdgeOptions options = with_lists_of(150UL << 10);
  options.cache_agents = {"kubelet"};  // The agent asks for nothing of its own.
  FilterFixture fixture(std::move(options));
  fixture.on_server("POST", in_ns, service("a", 100, false));
  fixture.on_server("POST", in_ns, service("b", 200, false));
  fixture.asked.clear();
  const Page first = page_of(fixture.ask(proxy, services + "?limit=500"));
  EXPECT_EQ(first.names, "a ");
  EXPECT_EQ(std::count(fixture.asked.begin(), fixture.asked.end(), services), 4)
      << "pages of 500, 62, 7 and 1";
  const std::string next = "?limit=500&continue=" + first.continue_token;
  EXPECT_EQ(fixture.ask(proxy, services + next).status, 507) << "this object alone is too large";
}

}  // namespace
}  // namespace holdfast::agent::filtered::large
