#include "agent/lab/demo/report.h"

#include <algorithm>
#include <map>

#include "agent/lab/demo/constants.h"
#include "agent/lab/demo/tracks.h"
#include "agent/lab/demo/words.h"
#include "agent/lab/result/html.h"
#include "embedded/demo_style.h"

namespace holdfast::agent::demo {
namespace {

using lab::decimal;
using lab::element;
using lab::escape_html;

std::string cell(const std::string& text, const std::string& look = {}) {
  return element("td", {{"class", look}}, escape_html(text));
}

std::string section(const std::string& heading, const std::string& inner) {
  return element("section", {}, element("h2", {}, escape_html(heading)) + inner) + "\n";
}

std::string headings(std::initializer_list<const char*> words) {
  std::string row;
  for (const char* word : words) row += element("th", {}, escape_html(word));
  return element("thead", {}, element("tr", {}, row));
}

std::string results_table(const std::vector<CheckResult>& results) {
  std::string rows;
  for (const CheckResult& result : results) {
    const std::string look = result.held ? "pass" : "fail";
    const std::string badge =
        element("span", {{"class", "badge " + look}}, result.held ? "PASS" : "FAIL");
    rows += element(
        "tr", {},
        element("td", {}, badge) + cell(result.promise, "promise") + cell(result.detail, "detail"));
  }
  return element("table", {{"class", "results"}}, element("tbody", {}, rows));
}

std::string legend() {
  const std::pair<const char*, const char*> entries[] = {
      {"link-connected", "connected"},    {"link-suspect", "suspect"},
      {"link-offline", "offline"},        {"link-rejoining", "rejoining"},
      {"link-down", "agent down"},        {"ready-True", "Ready"},
      {"ready-Unknown", "Unknown"},       {"taint-schedule", "NoSchedule"},
      {"taint-execute", "NoExecute"},     {"process", "pod's process"},
      {"process again", "started again"}, {"process stale", "deleted, still running"}};
  std::string items;
  for (const auto& [look, words] : entries) {
    const std::string swatch = element("i", {{"class", std::string("swatch ") + look}});
    items += element("li", {}, swatch + escape_html(words));
  }
  return element("ul", {{"class", "legend"}}, items);
}

std::string memory_table(const History& history) {
  std::string rows;
  for (const MemorySeen& memory : history.memory) {
    rows += element("tr", {},
                    cell(memory.node) +
                        cell(decimal(static_cast<double>(memory.pss_kib) / 1024) + " MiB", "num") +
                        cell(std::to_string(memory.pods), "num"));
  }
  return element("table", {}, headings({"agent", "PSS when idle", "pods"}) + rows);
}

std::string flag_table(const char* program, const Flags& flags) {
  std::string rows;
  for (const auto& [name, value] : flags) {
    rows += element("tr", {}, cell("--" + name, "code") + cell(value, "code num"));
  }
  return element("table", {}, headings({program, ""}) + rows);
}

std::string story_list(const History& history) {
  std::string items;
  for (const Mark& mark : history.marks) {
    items += element("tr", {}, cell(seconds(mark.at), "num") + cell(mark.text));
  }
  return element("table", {}, element("tbody", {}, items));
}

std::string journal_table(const History& history) {
  std::map<std::pair<std::string, std::string>, int> kinds;
  for (const JournalSeen& line : history.journal) ++kinds[{line.node, line.kind}];
  std::string rows;
  for (const auto& [key, count] : kinds) {
    rows += element(
        "tr", {}, cell(key.first) + cell(key.second, "code") + cell(std::to_string(count), "num"));
  }
  return element("table", {}, headings({"agent", "kind of record", "records"}) + rows);
}

std::string lead(const std::vector<CheckResult>& results, const History& history) {
  const auto held = std::count_if(results.begin(), results.end(),
                                  [](const CheckResult& result) { return result.held; });
  const bool all = held == static_cast<std::ptrdiff_t>(results.size());
  const std::string count =
      std::to_string(held) + " of " + std::to_string(results.size()) + " promises held";
  const std::string badge =
      element("span", {{"class", all ? "badge big pass" : "badge big fail"}}, escape_html(count));
  return element(
      "header", {},
      element("h1", {}, "Cut the link and the pods stay") +
          element("p", {},
                  badge +
                      " A control plane, a controller and three edge agents ran as "
                      "real processes; two links were cut and restored. Then two sites of many "
                      "nodes lost their links. It took " +
                      escape_html(seconds(end_of(history))) + "."));
}

std::string second_act(const History& history, const DemoSetup& setup) {
  const Timeline timeline = sites_timeline(history, setup);
  if (timeline.tracks.empty()) return {};
  const std::string words =
      "Two sites of " + std::to_string(setup.site_nodes) + " nodes, each a zone. Site " +
      setup.first_site + " loses its link and is evicted node by node, at most one every " +
      decimal(1 / setup.eviction_rate) + " s; a pod is deleted " +
      decimal(std::chrono::duration<double>(setup.site_patience).count()) +
      " s after its node's taint (dark mark). When site " + setup.other_site +
      " loses its link, too, all NoExecute taints are removed and nothing is evicted any more.";
  return section("Two sites without links",
                 element("p", {}, escape_html(words)) +
                     element("div", {{"class", "timeline"}}, timeline_svg(timeline)));
}

}  // namespace

std::string report_page(const History& history, const DemoSetup& setup,
                        const std::vector<CheckResult>& results) {
  const std::string head =
      "<meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<link rel=\"icon\" href=\"data:,\">"
      "<title>Holdfast demo</title>" +
      element("style", {}, std::string(embedded::demo_css));
  const std::string roles =
      setup.autonomous + " is autonomous, " + setup.ordinary + " is not, " + setup.connected +
      " stays connected. Shaded times are those without a link. Towards the end " +
      setup.connected + " is full, and " + setup.important + " takes the room of the " +
      setup.lesser + " pods, which run again elsewhere; " + setup.guarded +
      " stays. Hover over a bar for details.";
  const std::string flags = flag_table("holdfast-edge", edge_constants()) +
                            flag_table("holdfast-node", node_constants()) +
                            flag_table("holdfast-cloud", cloud_constants());
  const std::string columns =
      element("div", {{"class", "columns"}},
              section("Story", story_list(history)) + section("Memory", memory_table(history)) +
                  section("Journals", journal_table(history)));
  const std::string body =
      lead(results, history) +
      section("What happened", element("p", {}, escape_html(roles)) + legend() +
                                   element("div", {{"class", "timeline"}},
                                           timeline_svg(outage_timeline(history, setup)))) +
      second_act(history, setup) + section("Results", results_table(results)) + columns +
      section("Time constants",
              element("p", {},
                      "Shorter than in production, so that an outage fits into a minute. The "
                      "Deployment's pods tolerate an unreachable node for " +
                          escape_html(eviction_patience) + " s.") +
                  element("div", {{"class", "columns"}}, flags));
  return "<!doctype html>\n<html lang=\"en\"><head>" + head + "</head>\n<body><main>" + body +
         "</main></body></html>\n";
}

}  // namespace holdfast::agent::demo
