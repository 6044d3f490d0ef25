// The settings of the filters, and the metrics of local clients.

#include <gtest/gtest.h>

#include "agent/edge/admin/hub_metrics.h"
#include "agent/edge/filters/answer_filters.h"
#include "platform/text.h"
#include "test/support/run.h"

namespace holdfast::agent {
namespace {

TEST(FilterOptions, BadValuesAreNamed) {
  struct Row {
    FilterOptions options;
    std::string problem;  // "": no problem
  };
  const Row rows[] = {
      {{}, ""},
      {{.disabled = {"masterservice", "serviceenvupdater"}}, ""},
      {{.disabled = {"masterservices"}},
       "--disabled-resource-filters: \"masterservices\" is not a filter"},
      {{.disabled = {""}}, "--disabled-resource-filters: \"\" is not a filter"},
      {{.nodepool_name = "hangzhou"}, ""},
      {{.nodepool_name = "Hang Zhou"}, "--nodepool-name: \"Hang Zhou\": "},
      {{.hub_config = ""}, ""},
      {{.hub_config = "yurt-hub-cfg"}, "--hub-config: \"yurt-hub-cfg\" is not namespace/name"},
      {{.hub_config = "a/b/c"}, "--hub-config: \"a/b/c\" is not namespace/name"},
      {{.hub_config = "/b"}, "--hub-config: \"/b\" is not namespace/name"},
  };
  for (const Row& row : rows) {
    const Status checked = check(row.options);
    EXPECT_EQ(checked.has_value(), row.problem.empty()) << row.problem;
    if (!checked) {
      EXPECT_TRUE(checked.error().what.starts_with(row.problem)) << checked.error().what;
    }
  }
}

TEST(FilterOptions, PodsReachTheAgentAtAnAddressOfTheirOwnNode) {
  EdgeOptions dummy;
  dummy.identity.dummy_if_ip = "169.254.2.1";
  EXPECT_EQ(address_for_pods(dummy), (sync::filters::MasterAddress{"169.254.2.1", 10268}));
  const std::pair<const char*, std::string> rows[] = {
      {"169.254.2.1:10268", "169.254.2.1 10268"},
      {"[fd00::2:1]:10268", "fd00::2:1 10268"},
      {"127.0.0.1:10268", "none"},
      {"127.0.1.1:10268", "none"},
      {"[::1]:10268", "none"},
      {"0.0.0.0:10268", "none"},
      {"[::]:10268", "none"},
      {"", "none"},
  };
  for (const auto& [listen, expected] : rows) {
    EdgeOptions options;
    options.identity.secure_listen = listen;
    const auto address = address_for_pods(options);
    EXPECT_EQ(address ? address->host + " " + std::to_string(address->port) : "none", expected)
        << listen;
  }
}

// A stream of two pieces.
class TwoPieces final : public http::BodyStream {
 public:
  asio::awaitable<Result<std::string>> next() override {
    std::string piece = left_-- > 0 ? "12345" : "";
    co_return piece;
  }
  void cancel() override {}

 private:
  int left_ = 2;
};

sync::objects::RequestInfo info_of(const std::string& target) {
  return sync::objects::parse_request("GET", target, "").value();
}

std::vector<std::string> values(const Metrics& metrics) {
  std::vector<std::string> lines;
  const std::string text = metrics.text();
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.front() != '#') lines.emplace_back(line);
  }
  return lines;
}

TEST(HubMetrics, CountWhatIsAnsweredAndWhatIsUnderWay) {
  test::run([](asio::io_context&) -> asio::awaitable<void> {
    Metrics metrics;
    HubMetrics hub(metrics);
    http::Response watch;
    watch.stream = std::make_shared<TwoPieces>();
    HubMetrics::answer(hub.begin("kubelet", info_of("/api/v1/pods")), watch);
    http::Response list{.body = "123"};
    HubMetrics::answer(hub.begin("kubelet", info_of("/api/v1/nodes/a/status")), list);
    const std::string pods = R"({client="kubelet",resource="pods",subresources="",verb="list"} )";
    const std::string status =
        R"({client="kubelet",resource="nodes",subresources="status",verb="get"} )";
    const std::string flying = "node_yurthub_in_flight_requests_collector";
    const std::string traffic = "node_yurthub_proxy_traffic_collector";
    auto now = values(metrics);
    std::sort(now.begin(), now.end());
    EXPECT_EQ(now, (std::vector<std::string>{flying + status + "0", flying + pods + "1",
                                             "node_yurthub_in_flight_requests_total 1",
                                             traffic + status + "3"}));
    for (int i = 0; i < 3; ++i) (void)co_await watch.stream->next();
    watch.stream.reset();
    now = values(metrics);
    std::sort(now.begin(), now.end());
    EXPECT_EQ(now, (std::vector<std::string>{flying + status + "0", flying + pods + "0",
                                             "node_yurthub_in_flight_requests_total 0",
                                             traffic + status + "3", traffic + pods + "10"}));
  });
}

TEST(HubMetrics, WhatClientsChooseMakesNoEndlessSeries) {
  Metrics metrics;
  HubMetrics hub(metrics, {.clients = 2, .series = 3});
  const auto count = [&hub, &metrics](const std::string& component, const std::string& target) {
    http::Response response{.body = "1"};
    HubMetrics::answer(hub.begin(component, info_of(target)), response);
    std::string found;
    for (const std::string& line : values(metrics)) {
      const bool counter = line.starts_with("node_yurthub_proxy_traffic_collector{");
      if (counter) found += line.substr(line.find('{')) + "\n";
    }
    return split(found, '\n').size() - 1;
  };
  EXPECT_EQ(count("a", "/api/v1/pods"), 1u);
  EXPECT_EQ(count("b", "/api/v1/pods"), 2u);
  EXPECT_EQ(count("c", "/api/v1/pods"), 3u) << "all other components count together";
  EXPECT_EQ(count("d", "/api/v1/pods"), 3u);
  EXPECT_EQ(count(std::string(65, 'x'), "/api/v1/pods"), 3u);
  EXPECT_EQ(count("\xff", "/api/v1/pods"), 3u);
  EXPECT_EQ(count("a", "/api/v1/anything"), 4u) << "all other resources count together";
  EXPECT_EQ(count("a", "/api/v1/everything"), 4u);
}

}  // namespace
}  // namespace holdfast::agent
