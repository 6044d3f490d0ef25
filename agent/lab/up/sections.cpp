#include "agent/lab/up/sections.h"

#include <algorithm>

#include "platform/text.h"

namespace holdfast::agent::lab::up {
namespace {

std::vector<Shown> headings(const std::vector<std::string>& words) {
  std::vector<Shown> cells;
  cells.reserve(words.size());
  for (const std::string& word : words) cells.push_back({word, Tone::heading});
  return cells;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

// A taint that evicts is bad; one that keeps new pods away is not.
Shown taints_cell(const std::vector<std::string>& taints) {
  const bool evicts = std::any_of(taints.begin(), taints.end(), [](const std::string& taint) {
    return taint.ends_with(":NoExecute");
  });
  return {or_dash(join(taints, " ")), evicts ? Tone::bad : Tone::plain};
}

Row node_row(const NodeView& node) {
  const std::string age = node.lease_age ? seconds_text(*node.lease_age) : "-";
  const std::string unsent = node.unsent < 0 ? "-" : std::to_string(node.unsent);
  const std::string pods = std::to_string(node.pods_ready) + "/" + std::to_string(node.pods);
  const bool in_trouble = node.ready.tone != Tone::plain || node.link.tone != Tone::plain ||
                          node.agent.tone != Tone::plain;
  return {.cells = {{node.name},
                    {or_dash(node.site)},
                    node.link,
                    node.ready,
                    node.agent,
                    {age},
                    {pods, node.pods_ready < node.pods ? Tone::soon : Tone::plain},
                    {unsent, node.unsent > 0 ? Tone::soon : Tone::plain},
                    taints_cell(node.taints)},
          .in_trouble = in_trouble};
}

Row pod_row(const PodView& pod) {
  const bool is_late = pod.state.text == "Running" && !pod.ready;
  return {.cells = {{pod.name},
                    {or_dash(pod.node)},
                    pod.state,
                    {pod.ready ? "yes" : "no", is_late ? Tone::soon : Tone::plain},
                    {std::to_string(pod.restarts)}},
          .in_trouble = pod.state.tone != Tone::plain || is_late};
}

Row upcoming_row(const Upcoming& upcoming) {
  switch (upcoming.when) {
    case Upcoming::When::at:
      return {.cells = {{"in " + seconds_text(upcoming.in), Tone::soon},
                        {upcoming.what},
                        {upcoming.reason}},
              .in_trouble = true};
    case Upcoming::When::waiting:
      return {.cells = {{"waiting"}, {upcoming.what}, {upcoming.reason}}};
    case Upcoming::When::withheld:
      return {.cells = {{"withheld"}, {upcoming.what}, {upcoming.reason}}};
  }
  return {};
}

// A section without rows says so.
Section with_rows(Section section) {
  if (section.rows.empty()) section.rows.push_back({.cells = {{"none"}}});
  return section;
}

}  // namespace

std::vector<Shown> title_of(const View& view) {
  const auto ready = std::count_if(view.nodes.begin(), view.nodes.end(),
                                   [](const NodeView& node) { return node.ready.text == "True"; });
  const auto all = static_cast<std::ptrdiff_t>(view.nodes.size());
  return {{"holdfast-lab up, " + seconds_text(view.age) + ": "},
          {std::to_string(ready) + " of " + std::to_string(all) + " nodes Ready",
           ready < all ? Tone::bad : Tone::plain}};
}

std::string hint_of(const View& view) { return "export KUBECONFIG=" + view.kubeconfig; }

std::vector<Section> sections_of(const View& view) {
  Section nodes{.heading = headings({"NODE", "SITE", "LINK", "READY", "AGENT", "LEASE", "PODS",
                                     "UNSENT", "TAINTS"}),
                .rows = {}};
  for (const NodeView& node : view.nodes) nodes.rows.push_back(node_row(node));
  Section upcoming{.heading = headings({"UPCOMING", "WHAT", "WHY"}), .rows = {}};
  for (const Upcoming& one : view.upcoming) upcoming.rows.push_back(upcoming_row(one));
  Section pods{.heading = headings({"POD", "NODE", "STATE", "READY", "RESTARTS"}), .rows = {}};
  for (const PodView& pod : view.pods) pods.rows.push_back(pod_row(pod));
  Section events{.heading = headings({"AT", "EVENT"}), .rows = {}, .keeps_last = true};
  for (const EventLine& event : view.events) {
    events.rows.push_back({.cells = {{seconds_text(event.at)}, {event.text}}});
  }
  return {with_rows(std::move(nodes)), with_rows(std::move(upcoming)), with_rows(std::move(pods)),
          with_rows(std::move(events))};
}

}  // namespace holdfast::agent::lab::up
