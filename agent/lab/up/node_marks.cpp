#include "agent/lab/up/node_marks.h"

namespace holdfast::agent::lab::up {

void NodeMarks::note(Verb verb, const ScenarioEvent& event) {
  if (const auto* cut = std::get_if<Cut>(&event.action)) {
    nodes_[cut->target].cut = verb == Verb::begin ? cut->direction : Direction::both;
  } else if (const auto* degrade = std::get_if<Degrade>(&event.action)) {
    nodes_[degrade->target].quality = verb == Verb::begin ? degrade->link.name : std::string();
  } else if (const auto* pause = std::get_if<Pause>(&event.action)) {
    auto& paused = nodes_[pause->target].paused;
    if (verb == Verb::begin) {
      paused.insert(pause->process);
    } else {
      paused.erase(pause->process);
    }
  } else if (const auto* kill = std::get_if<Kill>(&event.action)) {
    nodes_[kill->target].paused.erase(kill->process);
  } else if (const auto* loss = std::get_if<PowerLoss>(&event.action)) {
    nodes_[loss->target].paused.clear();
  }
}

Shown NodeMarks::link_of(const std::string& node, const NodeState& state) const {
  const auto found = nodes_.find(node);
  if (!state.is_powered) return {"off", Tone::bad};
  if (state.link == "cut") {
    const Direction direction = found == nodes_.end() ? Direction::both : found->second.cut;
    if (direction == Direction::up) return {"cut up", Tone::bad};
    if (direction == Direction::down) return {"cut down", Tone::bad};
    return {"cut", Tone::bad};
  }
  if (state.link == "degraded") {
    const bool named = found != nodes_.end() && !found->second.quality.empty();
    return {named ? found->second.quality : "degraded", Tone::soon};
  }
  const bool is_usual = state.profile.empty() || state.profile == "ethernet";
  return {is_usual ? "up" : std::string(state.profile), Tone::plain};
}

std::string NodeMarks::paused_on(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  if (found->second.paused.contains(Process::edge)) return "edge paused";
  return found->second.paused.empty() ? "" : "node-agent paused";
}

}  // namespace holdfast::agent::lab::up
