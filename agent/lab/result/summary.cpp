#include "agent/lab/result/summary.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "agent/lab/result/words.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t sites_named = 6;        // in a headline, when all of them fit
constexpr std::size_t worst_sites_named = 3;  // otherwise

Duration total_of(const std::vector<Span>& spans, bool (*counts)(const Span&)) {
  Duration total{};
  for (const Span& span : spans) {
    if (counts(span) && span.end > span.begin) total += span.end - span.begin;
  }
  return total;
}

bool any_state(const Span&) { return true; }
bool is_cut(const Span& span) { return span.state == "cut"; }
bool is_not_ready(const Span& span) { return span.state != "True"; }

Tally tally_node(const NodeResult& node) {
  Tally made{.name = node.name, .site = node.site, .nodes = 1};
  made.cut = total_of(node.link, is_cut) + total_of(node.power, any_state);
  made.not_ready = total_of(node.ready, is_not_ready);
  made.tainted = total_of(node.taints, any_state);
  made.withheld = total_of(node.withheld, any_state);
  made.nodes_cut = made.cut > Duration::zero() ? 1 : 0;
  made.nodes_not_ready = made.not_ready > Duration::zero() ? 1 : 0;
  made.nodes_tainted = made.tainted > Duration::zero() ? 1 : 0;
  made.nodes_withheld = made.withheld > Duration::zero() ? 1 : 0;
  return made;
}

void add_node_to(Tally& site, const Tally& node) {
  ++site.nodes;
  site.nodes_cut += node.nodes_cut;
  site.nodes_not_ready += node.nodes_not_ready;
  site.nodes_tainted += node.nodes_tainted;
  site.nodes_withheld += node.nodes_withheld;
  site.cut = std::max(site.cut, node.cut);
  site.not_ready = std::max(site.not_ready, node.not_ready);
  site.tainted = std::max(site.tainted, node.tainted);
  site.withheld = std::max(site.withheld, node.withheld);
}

void add_pod_to(Tally& tally, const PodResult& pod) {
  ++tally.pods;
  tally.evicted += pod.evicted ? 1 : 0;
  tally.restarted += pod.restarts;
}

// "0 restarts", "2 evicted", "2 evicted and 1 restart".
std::string outcome(const Tally& tally) {
  const std::string restarts = plural(static_cast<std::size_t>(tally.restarted), "restart");
  if (tally.evicted == 0) return restarts;
  const std::string evicted = std::to_string(tally.evicted) + " evicted";
  return tally.restarted == 0 ? evicted : evicted + " and " + restarts;
}

bool is_unharmed(const Tally& site) { return site.evicted == 0 && site.restarted == 0; }

std::string sites_sentence(const std::vector<Tally>& sites) {
  if (sites.empty()) return "no nodes took part";
  std::string sentence;
  const auto add = [&sentence](const std::string& part) {
    sentence += (sentence.empty() ? "" : "; ") + part;
  };
  if (sites.size() <= sites_named) {
    for (const Tally& site : sites) add(clip(site.name, 60) + ": " + outcome(site));
    return sentence;
  }
  const auto unharmed =
      static_cast<std::size_t>(std::count_if(sites.begin(), sites.end(), is_unharmed));
  const std::size_t harmed = sites.size() - unharmed;
  if (unharmed > 0) {
    const std::string which =
        harmed == 0 ? "all " + plural(unharmed, "site")
                    : std::to_string(unharmed) + " of " + plural(sites.size(), "site");
    add(which + ": 0 restarts");
  }
  const std::vector<Tally> worst = most_affected_first(sites);
  const std::size_t named = harmed <= sites_named ? harmed : worst_sites_named;
  for (std::size_t at = 0; at < named; ++at) {
    add(clip(worst[at].name, 60) + ": " + outcome(worst[at]));
  }
  Tally rest;
  for (std::size_t at = named; at < harmed; ++at) {
    rest.evicted += worst[at].evicted;
    rest.restarted += worst[at].restarted;
  }
  if (harmed > named) add(plural(harmed - named, "other site") + ": " + outcome(rest));
  return sentence;
}

}  // namespace

Tallies tally(const RunResult& result) {
  Tallies made;
  std::unordered_map<std::string_view, std::size_t> site_at;
  std::unordered_map<std::string_view, std::size_t> node_at;
  for (const NodeResult& node : result.nodes) {
    node_at.emplace(node.name, made.nodes.size());
    made.nodes.push_back(tally_node(node));
    const auto [at, is_new] = site_at.emplace(node.site, made.sites.size());
    if (is_new) made.sites.push_back({.name = node.site, .site = node.site});
    add_node_to(made.sites[at->second], made.nodes.back());
  }
  for (const PodResult& pod : result.pods) {
    const auto node = node_at.find(pod.node);
    if (node != node_at.end()) add_pod_to(made.nodes[node->second], pod);
    const auto site = site_at.find(node != node_at.end() ? made.nodes[node->second].site
                                                         : std::string_view(pod.site));
    if (site != site_at.end()) add_pod_to(made.sites[site->second], pod);
  }
  return made;
}

std::vector<Tally> most_affected_first(std::vector<Tally> tallies) {
  const auto rank = [](const Tally& tally) {
    return std::tuple(tally.evicted + tally.restarted, tally.nodes_tainted, tally.nodes_not_ready,
                      tally.nodes_cut);
  };
  std::stable_sort(tallies.begin(), tallies.end(), [&rank](const Tally& left, const Tally& right) {
    return rank(left) > rank(right);
  });
  return tallies;
}

bool is_affected(const Tally& tally) {
  return tally.evicted + tally.restarted + tally.nodes_cut + tally.nodes_not_ready +
             tally.nodes_tainted + tally.nodes_withheld >
         0;
}

std::string headline(const RunResult& result) {
  std::string sentence;
  if (result.violation) {
    sentence = "violated after " + brief(result.violation->at) + ": " +
               clip(result.violation->invariant, 120) + "; ";
  }
  const auto missed = static_cast<std::size_t>(
      std::count_if(result.expectations.begin(), result.expectations.end(),
                    [](const ExpectationResult& each) { return !each.met; }));
  if (missed > 0) {
    sentence += std::to_string(missed) + " of " +
                plural(result.expectations.size(), "expectation") + " not met; ";
  }
  return sentence + sites_sentence(tally(result).sites);
}

std::string circumstances(const RunResult& result) {
  const std::size_t sites = tally(result).sites.size();
  const bool is_simulated = result.mode == "sim";
  std::string words = is_simulated           ? "simulated, seed " + std::to_string(result.seed)
                      : result.mode == "run" ? "real processes"
                                             : clip(result.mode, 40);
  const auto speed = result.settings.find("run.speed");
  if (speed != result.settings.end()) words += ", " + clip(speed->second, 40) + " times faster";
  if (!words.empty()) words += ", ";
  words += brief(result.duration) + ", " + plural(result.nodes.size(), "node") + " in " +
           plural(sites, "site") + ", " + plural(result.pods.size(), "pod");
  if (result.events > 0) words += ", " + plural(result.events, "event");
  return words;
}

Peak peak_of(const Series& series) {
  Peak peak;
  for (std::size_t at = 0; at < series.values.size(); ++at) {
    if (series.values[at] <= peak.value) continue;
    peak = {series.interval * static_cast<std::int64_t>(at), series.values[at]};
  }
  return peak;
}

Duration counting_interval(Duration length) {
  using std::chrono::seconds;
  constexpr int values_max = 600;
  for (const Duration each : {seconds(1), seconds(5), seconds(10), seconds(30)}) {
    if (length <= each * values_max) return each;
  }
  return seconds(60);
}

Series shortened(const Series& series, std::size_t count) {
  const std::size_t each = (series.values.size() + count - 1) / std::max<std::size_t>(count, 1);
  if (each <= 1) return series;
  Series made{series.name, series.interval * static_cast<std::int64_t>(each), {}};
  for (std::size_t at = 0; at < series.values.size(); at += each) {
    const auto from = series.values.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = series.values.begin() +
                    static_cast<std::ptrdiff_t>(std::min(at + each, series.values.size()));
    made.values.push_back(*std::max_element(from, to));
  }
  return made;
}

}  // namespace holdfast::agent::lab
