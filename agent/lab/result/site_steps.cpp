#include "agent/lab/result/site_steps.h"

#include <algorithm>
#include <unordered_map>

namespace holdfast::agent::lab {
namespace {

// Changes of a count: +1 and -1 with their times.
using Changes = std::vector<Step>;

void add_changes(Changes& changes, const std::vector<Span>& spans, Duration duration,
                 std::string_view only, std::string_view except) {
  for (const Span& span : spans) {
    if ((!only.empty() && span.state != only) || (!except.empty() && span.state == except))
      continue;
    const Duration end = std::min(span.end, duration);
    if (end <= span.begin) continue;
    changes.push_back({span.begin, 1});
    changes.push_back({end, -1});
  }
}

// Keeps one step for each of `most` equal parts of the run: the highest, and the last one, because
// it counts from then on.
std::vector<Step> thinned(const std::vector<Step>& steps, Duration duration, std::size_t most) {
  if (steps.size() <= most) return steps;
  const Duration part = std::max(duration / static_cast<std::int64_t>(most / 2), Duration(1));
  std::vector<Step> made;
  for (std::size_t at = 0; at < steps.size();) {
    const auto which = steps[at].at / part;
    std::size_t highest = at;
    std::size_t end = at;
    for (; end < steps.size() && steps[end].at / part == which; ++end) {
      if (steps[end].count > steps[highest].count) highest = end;
    }
    made.push_back(steps[highest]);
    if (highest != end - 1) made.push_back(steps[end - 1]);
    at = end;
  }
  return made;
}

std::vector<Step> summed(Changes changes, Duration duration, std::size_t most) {
  std::sort(changes.begin(), changes.end(),
            [](const Step& left, const Step& right) { return left.at < right.at; });
  std::vector<Step> steps;
  int count = 0;
  for (const Step& change : changes) {
    count += change.count;
    if (!steps.empty() && steps.back().at == change.at) {
      steps.back().count = count;
    } else {
      steps.push_back({change.at, count});
    }
  }
  return thinned(steps, duration, most);
}

// Events, put together if they are closer than the run's `most`-th part.
std::vector<Step> gathered(Changes events, Duration duration, std::size_t most) {
  std::sort(events.begin(), events.end(),
            [](const Step& left, const Step& right) { return left.at < right.at; });
  const Duration part = duration / static_cast<std::int64_t>(most);
  std::vector<Step> made;
  for (const Step& event : events) {
    if (!made.empty() && event.at - made.back().at < part) {
      ++made.back().count;
    } else {
      made.push_back(event);
    }
  }
  return made;
}

}  // namespace

std::map<std::string, SiteSteps> site_steps(const RunResult& result, std::size_t most) {
  std::map<std::string, SiteSteps> changes;
  std::unordered_map<std::string_view, std::string_view> site_of;
  for (const NodeResult& node : result.nodes) {
    site_of.emplace(node.name, node.site);
    SiteSteps& site = changes[node.site];
    std::vector<Span> off = node.power;  // a node that is off is cut off once, not twice
    const auto is_off = [&off](const Span& cut) {
      return std::any_of(off.begin(), off.end(), [&cut](const Span& each) {
        return each.begin < cut.end && cut.begin < each.end;
      });
    };
    std::vector<Span> cut = node.link;
    std::erase_if(cut, is_off);
    add_changes(site.cut, off, result.duration, "", "");
    add_changes(site.cut, cut, result.duration, "cut", "");
    add_changes(site.not_ready, node.ready, result.duration, "", "True");
    add_changes(site.tainted, node.taints, result.duration, "", "");
    add_changes(site.withheld, node.withheld, result.duration, "", "");
  }
  for (const PodResult& pod : result.pods) {
    const auto node = site_of.find(pod.node);
    if (!pod.evicted || node == site_of.end()) continue;
    changes[std::string(node->second)].evictions.push_back(
        {std::min(*pod.evicted, result.duration), 1});
  }
  for (auto& [name, site] : changes) {
    for (auto* each : {&site.cut, &site.not_ready, &site.tainted, &site.withheld}) {
      *each = summed(std::move(*each), result.duration, most);
    }
    site.evictions = gathered(std::move(site.evictions), result.duration, most);
  }
  return changes;
}

}  // namespace holdfast::agent::lab
