#include "agent/lab/cluster/refusal.h"

#include "agent/lab/scenario/describe.h"

namespace holdfast::agent::lab::cluster {
namespace {

constexpr std::size_t shown_max = 10;

std::string place_of(const ScenarioEvent& event, const std::string& file) {
  return event.line == 0 ? file : file + ":" + std::to_string(event.line);
}

}  // namespace

std::string refusal_of(const Action& action) {
  if (std::holds_alternative<ClockStep>(action) || std::holds_alternative<ClockDrift>(action)) {
    return "all processes of this machine have the same clock";
  }
  if (std::holds_alternative<DiskFull>(action)) return "all nodes share this machine's disk";
  const auto* fault = std::get_if<ApiServerFault>(&action);
  if (fault != nullptr && fault->fault != ApiFault::unavailable) {
    return "a real API server can only be stopped";
  }
  return "";
}

Status check_events(const Scenario& scenario, const std::string& file) {
  std::string text;
  std::size_t count = 0;
  for (const ScenarioEvent& event : scenario.events) {
    const std::string refusal = refusal_of(event.action);
    if (refusal.empty() || ++count > shown_max) continue;
    const Description description = describe(event.action);
    text += (text.empty() ? "" : "\n") + place_of(event, file) + ": " + description.target + ": " +
            description.what + ": only `sim` plays this; " + refusal;
  }
  if (count > shown_max) text += "\nand " + std::to_string(count - shown_max) + " more";
  if (count > 0) return fail(Errc::invalid, text);
  return {};
}

}  // namespace holdfast::agent::lab::cluster
