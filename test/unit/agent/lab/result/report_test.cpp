// The HTML page: stands alone, escapes everything, and stays small.

#include "agent/lab/result/report.h"

#include "agent/lab/result/html.h"
#include "agent/lab/result/page_data.h"
#include "test/support/fleet_result.h"

namespace holdfast::agent::lab {
namespace {

TEST(ResultHtml, WhatComesFromOutsideIsEscaped) {
  EXPECT_EQ(escape_html("<a b=\"c\">'&'"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(element("td", {{"class", "\"x\""}}, "<b>1</b>"),
            "<td class=\"&quot;x&quot;\"><b>1</b></td>");
}

TEST(ResultHtml, NumbersHaveOneDecimal) {
  const std::pair<double, std::string> cases[] = {
      {0, "0"}, {1, "1"}, {1.04, "1"}, {1.05, "1.1"}, {-2.5, "-2.5"}, {1234.56, "1234.6"}};
  for (const auto& [number, text] : cases) EXPECT_EQ(decimal(number), text);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Sets every text of the result to `text`.
RunResult hostile(const std::string& text) {
  RunResult result = test::fleet_result({});
  for (auto* each : {&result.scenario, &result.about, &result.mode}) *each = text;
  result.settings = {{text, text}};
  for (NodeResult& node : result.nodes) {
    node.name = node.site = text;
    for (auto* spans : {&node.link, &node.power, &node.ready, &node.taints, &node.withheld}) {
      for (Span& span : *spans) span.state = text;
    }
  }
  for (PodResult& pod : result.pods) {
    pod.name = pod.uid = pod.workload = pod.node = pod.site = text;
    for (Span& span : pod.running) span.state = text;
  }
  for (auto& each : result.workloads) each.name = each.site = text;
  for (auto& each : result.requests) each.name = text;
  for (auto& each : result.series) each.name = text;
  for (auto& each : result.faults) each.what = each.target = text;
  for (auto& each : result.expectations) each.text = each.found = text;
  result.violation = Violation{{}, text, text, {text, text}};
  return result;
}

TEST(ResultReport, HostileTextsStayText) {
  const std::string clean = report_page(hostile("x"));
  for (const std::string text :
       {"<script>alert(1)</script>", "</script><script>alert(1)</script>", "<!--<script>",
        "\"><img src=x onerror=alert(1)>", "</title><svg onload=alert(1)>"}) {
    const std::string page = report_page(hostile(text));
    EXPECT_EQ(page.find(text), page.npos) << text;
    EXPECT_EQ(count_of(page, "<"), count_of(clean, "<")) << text;
  }
}

TEST(ResultReport, StandsAlone) {
  const std::string page = report_page(test::fleet_result({}));
  EXPECT_EQ(count_of(page, "<script"), 2U);
  for (const char* foreign : {"src=", "@import", "url(", "innerHTML", "eval(", "fetch("}) {
    EXPECT_EQ(page.find(foreign), page.npos) << foreign;
  }
  EXPECT_NE(page.find("default-src &#39;none&#39;"), page.npos);
  EXPECT_EQ(page, report_page(test::fleet_result({})));
}

TEST(ResultReport, OfAnEmptyRun) {
  EXPECT_NE(report_page(RunResult()).find("<h1>no nodes took part</h1>"), std::string::npos);
  EXPECT_EQ(page_data(RunResult()),
            R"({"duration":0,"grouped":false,"sites":[],"otherSites":0,"faults":[],"series":[],)"
            R"("states":[],"shortened":false,"nodes":[]})");
}

TEST(ResultReport, IsSmallForAnyFleet) {
  const std::pair<int, int> checks[] = {{40, 250}, {10'000, 1}, {1, 10'000}};
  for (const auto& [sites, nodes] : checks) {
    const RunResult result = test::fleet_result({sites, nodes, 3});
    EXPECT_LT(report_page(result).size(), 5'000'000U) << sites << " sites";
  }
}

TEST(ResultReport, CountsWhatItLeavesOut) {
  const std::string data = page_data(test::fleet_result({.sites = 3, .nodes_per_site = 10}),
                                     {.nodes = 5, .sites = 2, .pods_per_node = 1});
  EXPECT_NE(data.find("\"otherSites\":1"), data.npos) << data;
  EXPECT_NE(data.find("\"more\":5"), data.npos) << data;
  EXPECT_NE(data.find("\"morePods\":1"), data.npos) << data;
}

}  // namespace
}  // namespace holdfast::agent::lab
