#include "agent/lab/result/report.h"

#include <algorithm>
#include <tuple>

#include "agent/lab/result/html.h"
#include "agent/lab/result/page_data.h"
#include "agent/lab/result/summary.h"
#include "agent/lab/result/words.h"
#include "embedded/lab_report.h"
#include "platform/text.h"
#include "platform/tls/digest.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t rows_shown = 300;   // of a table
constexpr std::size_t text_bytes = 2000;  // of one text
constexpr std::size_t setting_bytes = 200;

std::string td(const std::string& text, const std::string& look = {}) {
  return element("td", {{"class", look}}, escape_html(clip(text, text_bytes)));
}

std::string td(std::uint64_t number) { return td(std::to_string(number), "num"); }

std::string td_damage(int count) {
  return td(std::to_string(count), count > 0 ? "num bad" : "num");
}

std::string part(const std::string& heading, const std::string& inner) {
  return element("section", {}, element("h2", {}, escape_html(heading)) + inner) + "\n";
}

std::string html_table(std::initializer_list<const char*> titles, const std::string& rows) {
  std::string head;
  for (const char* title : titles) {
    const bool is_number = *title == '#';
    head += element("th", {{"class", is_number ? "num" : ""}},
                    escape_html(is_number ? title + 1 : title));
  }
  return element(
      "div", {{"class", "scroll"}},
      element("table", {},
              element("thead", {}, element("tr", {}, head)) + element("tbody", {}, rows)));
}

// "and 12 more workloads are only in the JSON"
std::string remainder(std::size_t all, const std::string& noun) {
  if (all <= rows_shown) return {};
  return element("p", {}, "and " + plural(all - rows_shown, noun) + " to which less happened");
}

std::string workloads_part(const RunResult& result) {
  std::vector<const WorkloadResult*> shown;
  shown.reserve(result.workloads.size());
  for (const WorkloadResult& each : result.workloads) shown.push_back(&each);
  if (shown.size() > rows_shown) {
    std::stable_sort(shown.begin(), shown.end(), [](const auto* left, const auto* right) {
      return std::tuple(left->evicted + left->restarted, left->unavailable) >
             std::tuple(right->evicted + right->restarted, right->unavailable);
    });
    shown.resize(rows_shown);
  }
  std::string rows;
  for (const WorkloadResult* each : shown) {
    const bool is_harmed = each->unavailable > Duration::zero();
    rows += element("tr", {},
                    td(each->name) + td(each->site.empty() ? "any" : each->site) +
                        td(std::to_string(each->wanted), "num") + td_damage(each->evicted) +
                        td_damage(each->restarted) +
                        td(brief(each->unavailable), is_harmed ? "num bad" : "num"));
  }
  if (rows.empty()) return {};
  return part(
      "Workloads",
      html_table({"workload", "site", "#wanted", "#evicted", "#restarted", "#unavailable"}, rows) +
          remainder(result.workloads.size(), "workload"));
}

std::string sites_part(const RunResult& result) {
  std::vector<Tally> sites = tally(result).sites;
  const std::size_t all = sites.size();
  if (all > rows_shown) {
    sites = most_affected_first(std::move(sites));
    sites.resize(rows_shown);
  }
  std::string rows;
  for (const Tally& site : sites) {
    rows += element("tr", {},
                    td(site.name) + td(std::to_string(site.nodes), "num") +
                        td(std::to_string(site.nodes_cut), "num") +
                        td(std::to_string(site.nodes_not_ready), "num") +
                        td(std::to_string(site.nodes_tainted), "num") + td_damage(site.evicted) +
                        td_damage(site.restarted));
  }
  if (rows.empty()) return {};
  return part("Sites", html_table({"site", "#nodes", "#cut off", "#not ready", "#tainted",
                                   "#evicted", "#restarted"},
                                  rows) +
                           remainder(all, "site"));
}

std::string requests_part(const RunResult& result) {
  std::string rows;
  const double seconds = std::chrono::duration<double>(result.duration).count();
  for (const RequestClass& each : result.requests) {
    if (each.requests == 0) continue;
    const double rate = seconds > 0 ? static_cast<double>(each.requests) / seconds : 0;
    rows += element("tr", {},
                    td(each.name) + td(each.requests) + td(brief_number(rate), "num") +
                        td(counted_bytes(each.bytes), "num"));
  }
  if (rows.empty()) return {};
  return part("Requests to the API server",
              html_table({"class", "#count", "#per second", "#bytes"}, rows));
}

std::string settings_part(const RunResult& result) {
  std::string rows;
  for (const auto& [name, value] : result.settings) {
    rows +=
        element("tr", {}, td(clip(name, setting_bytes)) + td(clip(value, setting_bytes), "num"));
  }
  if (rows.empty()) return {};
  return part("Settings", html_table({"setting", "#value"}, rows));
}

std::string expectations_part(const RunResult& result) {
  std::string rows;
  for (const ExpectationResult& each : result.expectations) {
    const std::string badge = element("span", {{"class", each.met ? "badge met" : "badge missed"}},
                                      each.met ? "met" : "not met");
    rows += element("tr", {}, element("td", {}, badge) + td(each.text) + td(each.found));
  }
  if (rows.empty()) return {};
  return part("Expectations", html_table({"", "expectation", "found"}, rows));
}

std::string violation_part(const RunResult& result) {
  if (!result.violation) return {};
  const Violation& violation = *result.violation;
  std::string events;
  for (const std::string& event : violation.last_events) events += clip(event, text_bytes) + "\n";
  return part("Violated after " + brief(violation.at) + ": " + clip(violation.invariant, 200),
              element("p", {}, escape_html(clip(violation.what, text_bytes))) +
                  element("pre", {}, escape_html(events)));
}

std::string report_legend() {
  const std::pair<const char*, const char*> entries[] = {{"s-fault", "fault"},
                                                         {"s-cut", "link cut"},
                                                         {"s-degraded", "degraded"},
                                                         {"s-off", "powered off"},
                                                         {"s-ready", "ready"},
                                                         {"s-starting", "starting"},
                                                         {"s-stopping", "stopping"},
                                                         {"s-notready", "not Ready"},
                                                         {"s-unknown", "Ready unknown"},
                                                         {"s-tainted", "NoExecute taint"},
                                                         {"s-withheld", "evictions withheld"},
                                                         {"s-evicted", "evicted"},
                                                         {"s-ghost", "deleted, still running"}};
  std::string items;
  for (const auto& [look, words] : entries) {
    items += element("li", {}, element("i", {{"class", look}}) + escape_html(words));
  }
  return element("ul", {{"class", "legend"}}, items);
}

std::string timeline_part() {
  return part(
      "What happened",
      element("p", {},
              "Drag over the timeline to zoom; click on a fault to zoom to it, on a site to "
              "open it, on a node to see it alone. Hover over a bar for details.") +
          report_legend() + element("div", {{"id", "timeline"}}) +
          element("noscript", {}, element("p", {}, "The timeline needs JavaScript.")));
}

// The source of a content security policy that allows exactly this script.
std::string script_source(const std::string& script) {
  const std::string hex = tls::sha256_hex(script);
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  return "'sha256-" + base64_encode(bytes) + "'";
}

std::string page_head(const RunResult& result, const std::string& script) {
  const std::string policy =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
      "base-uri 'none'; form-action 'none'; script-src " +
      script_source(script);
  const std::string content = escape_html(policy);
  return "<meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"" +
         content +
         "\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<link rel=\"icon\" href=\"data:,\">" +
         element("title", {}, escape_html("Holdfast: " + clip(result.scenario, setting_bytes))) +
         element("style", {}, std::string(embedded::lab_report_css));
}

std::string page_header(const RunResult& result) {
  const std::string about = result.about.empty() ? "" : ": " + result.about;
  return element("header", {},
                 element("h1", {}, escape_html(headline(result))) +
                     element("p", {}, escape_html(clip(result.scenario + about, text_bytes))) +
                     element("p", {}, escape_html(circumstances(result))));
}

}  // namespace

std::string report_page(const RunResult& result) {
  const std::string script =
      std::string(embedded::lab_lanes_js) + std::string(embedded::lab_report_js);
  const std::string columns =
      element("div", {{"class", "columns"}}, requests_part(result) + settings_part(result));
  const std::string body = page_header(result) + violation_part(result) +
                           expectations_part(result) + timeline_part() + workloads_part(result) +
                           sites_part(result) + columns;
  return "<!doctype html>\n<html lang=\"en\"><head>" + page_head(result, script) +
         "</head>\n<body><main>" + body + "</main>\n" +
         element("script", {{"type", "application/json"}, {"id", "data"}}, page_data(result)) +
         element("script", {}, script) + "</body></html>\n";
}

}  // namespace holdfast::agent::lab
