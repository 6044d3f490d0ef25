#include "agent/lab/up/changes.h"

#include <algorithm>
#include <map>
#include <set>

namespace holdfast::agent::lab::up {
namespace {

using Lines = std::vector<std::string>;

void note(Lines& lines, const std::string& subject, const std::string& what,
          const std::string& before, const std::string& after) {
  if (before == after) return;
  lines.push_back(subject + ": " + what + " " + before + " -> " + after);
}

void note_taints(Lines& lines, const NodeView& before, const NodeView& after) {
  const std::set<std::string> old(before.taints.begin(), before.taints.end());
  const std::set<std::string> now(after.taints.begin(), after.taints.end());
  for (const std::string& taint : now) {
    if (!old.contains(taint)) lines.push_back(after.name + ": taint " + taint + " added");
  }
  for (const std::string& taint : old) {
    if (!now.contains(taint)) lines.push_back(after.name + ": taint " + taint + " removed");
  }
}

void note_nodes(Lines& lines, const View& before, const View& after) {
  std::map<std::string, const NodeView*> old;
  for (const NodeView& node : before.nodes) old.emplace(node.name, &node);
  static const NodeView unknown{.link = {"up"}, .ready = {"-"}, .agent = {"-"}};
  for (const NodeView& node : after.nodes) {
    const auto found = old.find(node.name);
    const NodeView& was = found == old.end() ? unknown : *found->second;
    note(lines, node.name, "link", was.link.text, node.link.text);
    note(lines, node.name, "agent", was.agent.text, node.agent.text);
    note(lines, node.name, "Ready", was.ready.text, node.ready.text);
    note_taints(lines, was, node);
  }
}

void note_pod(Lines& lines, const PodView* before, const PodView& pod) {
  const std::string name = "pod " + pod.name;
  if (before == nullptr) {
    lines.push_back(name + ": created");
    static const PodView none;
    before = &none;
  }
  if (before->node.empty() && !pod.node.empty()) lines.push_back(name + ": bound to " + pod.node);
  if (!before->state.text.empty()) {
    note(lines, name, "state", before->state.text, pod.state.text);
  }
  if (pod.restarts > before->restarts) {
    lines.push_back(name + ": restarted (" + std::to_string(pod.restarts) + ")");
  }
}

void note_pods(Lines& lines, const View& before, const View& after) {
  std::map<std::string, const PodView*> old;  // by uid
  std::set<std::string> now;
  for (const PodView& pod : before.pods) old.emplace(pod.uid, &pod);
  for (const PodView& pod : after.pods) now.insert(pod.uid);
  for (const PodView& pod : before.pods) {
    if (!now.contains(pod.uid)) lines.push_back("pod " + pod.name + ": gone");
  }
  for (const PodView& pod : after.pods) {
    const auto found = old.find(pod.uid);
    note_pod(lines, found == old.end() ? nullptr : found->second, pod);
  }
}

std::string words_of(const Upcoming& upcoming) {
  switch (upcoming.when) {
    case Upcoming::When::at:
      return "in " + seconds_text(upcoming.in) + ": " + upcoming.what + " (" + upcoming.reason +
             ")";
    case Upcoming::When::waiting:
      return "not yet: " + upcoming.what + " (" + upcoming.reason + ")";
    case Upcoming::When::withheld:
      return "withheld: " + upcoming.what + " (" + upcoming.reason + ")";
  }
  return {};
}

void note_upcoming(Lines& lines, const View& before, const View& after) {
  std::set<std::pair<std::string, Upcoming::When>> old;
  for (const Upcoming& one : before.upcoming) old.emplace(one.what, one.when);
  for (const Upcoming& one : after.upcoming) {
    if (!old.contains({one.what, one.when})) lines.push_back(words_of(one));
  }
}

}  // namespace

Lines changes_between(const View& before, const View& after) {
  Lines lines;
  note_nodes(lines, before, after);
  note_pods(lines, before, after);
  note_upcoming(lines, before, after);
  return lines;
}

}  // namespace holdfast::agent::lab::up
