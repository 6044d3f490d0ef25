#include "agent/lab/result/page_data.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <unordered_map>

#include "agent/lab/result/site_steps.h"
#include "agent/lab/result/summary.h"
#include "agent/lab/result/words.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

double rounded(Duration duration) {
  return std::round(std::chrono::duration<double, std::milli>(duration).count()) / 1000;
}

// Whole numbers need fewer bytes without ".0".
json::value page_number(double number) {
  const bool is_whole = number == std::floor(number) && std::abs(number) < 9e15;
  return is_whole ? json::value(static_cast<std::int64_t>(number)) : json::value(number);
}

class PageData {
 public:
  PageData(const RunResult& result, const PageLimits& limits)
      : result_(result), limits_(limits), tallies_(tally(result)) {
    for (std::size_t at = 0; at < result.pods.size(); ++at) {
      pods_of_[result.pods[at].node].push_back(at);
    }
  }

  [[nodiscard]] std::string text() {
    const bool is_grouped = result_.nodes.size() >= nodes_by_site;
    add_nodes();
    json::object document{{"duration", seconds(result_.duration)}, {"grouped", is_grouped}};
    document["sites"] = sites(is_grouped);
    const std::size_t all = tallies_.sites.size();
    document["otherSites"] = all - std::min(all, limits_.sites);
    document["faults"] = faults();
    document["series"] = series();
    document["states"] = std::move(states_);
    document["shortened"] = is_shortened_;
    std::string text = sync::wire::serialize(document);
    text.pop_back();
    return text + ",\"nodes\":[" + nodes_ + "]}";
  }

 private:
  static json::value seconds(Duration duration) { return page_number(rounded(duration)); }
  [[nodiscard]] std::string name(const std::string& text) const {
    return clip(text, limits_.name_bytes);
  }

  std::size_t state(const std::string& text) {
    const auto [at, is_new] = state_at_.emplace(name(text), states_.size());
    if (is_new) states_.emplace_back(at->first);
    return at->second;
  }

  json::array spans(std::vector<Span> spans) {
    if (spans.size() > limits_.spans) {
      is_shortened_ = true;
      const auto end = spans.begin() + static_cast<std::ptrdiff_t>(limits_.spans);
      std::nth_element(spans.begin(), end, spans.end(), [](const Span& left, const Span& right) {
        return left.end - left.begin > right.end - right.begin;
      });
      spans.erase(end, spans.end());
      std::sort(spans.begin(), spans.end(),
                [](const Span& left, const Span& right) { return left.begin < right.begin; });
    }
    json::array made;
    for (const Span& span : spans) {
      const Duration end = std::min(span.end, result_.duration);
      if (end <= span.begin) continue;
      made.insert(made.end(), {seconds(span.begin), seconds(end), state(span.state)});
    }
    return made;
  }

  json::object pod(const PodResult& from) {
    json::object made{
        {"name", name(from.name)}, {"restarts", from.restarts}, {"running", spans(from.running)}};
    if (from.evicted) made["evicted"] = seconds(*from.evicted);
    if (from.deleted) made["deleted"] = seconds(*from.deleted);
    return made;
  }

  json::object node(const NodeResult& from) {
    json::object made{{"name", name(from.name)},         {"site", name(from.site)},
                      {"link", spans(from.link)},        {"power", spans(from.power)},
                      {"ready", spans(from.ready)},      {"taints", spans(from.taints)},
                      {"withheld", spans(from.withheld)}};
    json::array pods;
    std::vector<std::size_t> order = pods_of_[from.name];
    std::stable_sort(order.begin(), order.end(), [this](std::size_t left, std::size_t right) {
      return harm(result_.pods[left]) > harm(result_.pods[right]);
    });
    for (const std::size_t at : order) {
      if (pods.size() == limits_.pods_per_node) break;
      pods.push_back(pod(result_.pods[at]));
    }
    made["morePods"] = order.size() - pods.size();
    made["pods"] = std::move(pods);
    return made;
  }
  static int harm(const PodResult& pod) { return pod.restarts + (pod.evicted ? 1 : 0); }

  // The nodes' places in the result: first those to which most happened in each site, site by
  // site, then the next ones.
  [[nodiscard]] std::vector<std::size_t> order() const {
    std::unordered_map<std::string_view, std::size_t> place;
    for (std::size_t at = 0; at < tallies_.nodes.size(); ++at) {
      place.emplace(tallies_.nodes[at].name, at);
    }
    constexpr std::size_t each_round = 8;
    std::unordered_map<std::string_view, std::size_t> seen;
    std::vector<std::pair<std::size_t, std::size_t>> ranked;
    const bool is_grouped = tallies_.nodes.size() >= nodes_by_site;
    const auto nodes = is_grouped ? most_affected_first(tallies_.nodes) : tallies_.nodes;
    for (const Tally& each : nodes) {
      const std::size_t at = place.at(each.name);
      ranked.emplace_back(seen[result_.nodes[at].site]++ / each_round, at);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    std::vector<std::size_t> order;
    order.reserve(ranked.size());
    for (const auto& [round, at] : ranked) order.push_back(at);
    return order;
  }

  void add_nodes() {
    std::size_t count = 0;
    for (const std::size_t at : order()) {
      const std::string text = sync::wire::serialize(node(result_.nodes[at]));
      if (count == limits_.nodes || nodes_.size() + text.size() > limits_.node_bytes) break;
      nodes_ += (nodes_.empty() ? "" : ",") + text;
      listed_[result_.nodes[at].site].push_back(count++);
    }
  }

  json::array sites(bool is_grouped) {
    constexpr std::size_t opened = 2;  // of a large fleet, in the beginning
    std::vector<Tally> chosen = is_grouped ? most_affected_first(tallies_.sites) : tallies_.sites;
    if (chosen.size() > limits_.sites) chosen.resize(limits_.sites);
    const std::size_t steps = std::clamp<std::size_t>(
        limits_.steps / std::max<std::size_t>(chosen.size() * 4, 1), 40, 400);
    const std::map<std::string, SiteSteps> all = site_steps(result_, steps);
    json::array made;
    for (const Tally& each : chosen) {
      const bool is_open = !is_grouped || (made.size() < opened && is_affected(each));
      made.push_back(site(each, all.at(each.name), is_open));
    }
    return made;
  }

  json::object site(const Tally& tally, const SiteSteps& steps, bool is_open) {
    const std::vector<std::size_t>& list = listed_[tally.name];
    const std::size_t nodes = static_cast<std::size_t>(tally.nodes);
    return {{"name", name(tally.name)},
            {"nodes", tally.nodes},
            {"evicted", tally.evicted},
            {"restarts", tally.restarted},
            {"open", is_open},
            {"cut", step_list(steps.cut)},
            {"notReady", step_list(steps.not_ready)},
            {"tainted", step_list(steps.tainted)},
            {"withheld", step_list(steps.withheld)},
            {"evictions", step_list(steps.evictions)},
            {"list", json::array(list.begin(), list.end())},
            {"more", nodes - std::min(nodes, list.size())}};
  }

  static json::array step_list(const std::vector<Step>& steps) {
    json::array made;
    for (const Step& step : steps) made.insert(made.end(), {seconds(step.at), step.count});
    return made;
  }

  [[nodiscard]] json::array faults() const {
    json::array made;
    for (const FaultMark& fault : result_.faults) {
      if (made.size() == limits_.faults) break;
      json::object each{{"at", seconds(std::min(fault.at, result_.duration))},
                        {"what", name(fault.what)},
                        {"target", name(fault.target)}};
      if (fault.until) {
        each["until"] = seconds(
            std::clamp(*fault.until, std::min(fault.at, result_.duration), result_.duration));
      }
      made.push_back(std::move(each));
    }
    return made;
  }

  [[nodiscard]] json::array series() const {
    json::array made;
    for (const Series& each : result_.series) {
      const Series few = shortened(each, limits_.values);
      json::array values;
      for (const double value : few.values) values.push_back(page_number(value));
      const bool is_thinned = few.values.size() < each.values.size();
      const std::string unit = is_thinned ? ", most" : "";
      made.push_back(json::object{{"name", name(each.name) + unit},
                                  {"interval", seconds(few.interval)},
                                  {"unit", seconds(each.interval)},
                                  {"values", std::move(values)}});
    }
    return made;
  }

  const RunResult& result_;
  const PageLimits& limits_;
  Tallies tallies_;
  std::unordered_map<std::string, std::vector<std::size_t>> pods_of_;  // by node
  std::unordered_map<std::string, std::vector<std::size_t>> listed_;   // nodes of the page, by site
  std::unordered_map<std::string, std::size_t> state_at_;
  json::array states_;
  std::string nodes_;
  bool is_shortened_ = false;
};

}  // namespace

std::string page_data(const RunResult& result, const PageLimits& limits) {
  return PageData(result, limits).text();
}

}  // namespace holdfast::agent::lab
