// A command to a running `holdfast-lab up`: an action of scenario files, by its name and with its
// keys, that begins at once; or `resume`, which ends a pause.
//
// It is read by the functions that read scenario files, and has their errors.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"

namespace holdfast::agent::lab::up {

struct Request {
  std::string action = {};  // "cut", "clock-step", "resume"
  std::vector<std::string> targets = {};
  std::map<std::string, std::string> fields = {};  // "direction", "for", ...
  bool operator==(const Request&) const = default;
};

struct RequestLimits {
  std::size_t body_bytes = 1 << 20;
  std::size_t targets = 1'000;
  std::size_t fields = 10;
};

// The actions that requests may have.
[[nodiscard]] const std::vector<std::string_view>& request_actions();

[[nodiscard]] std::string json_of(const Request& request);
// Errors: invalid (not such a request, or over a limit).
[[nodiscard]] Result<Request> parse_request(std::string_view body,
                                            const RequestLimits& limits = {});

enum class Verb : std::uint8_t { begin, end };

struct Command {
  Verb verb = Verb::begin;
  std::vector<ScenarioEvent> events = {};  // each for one node, for "cloud" or for "api-server"
};

// What the request asks for in this fleet. Without "process", kill and pause mean holdfast-edge.
// Errors: invalid, as scenario files have them: 'cut: unknown name "egde-1"; did you mean
// "edge-1"?'.
[[nodiscard]] Result<Command> command_of(const Request& request, const Scenario& fleet);

// "cut edge-1 for 47m0s"
[[nodiscard]] std::string words_of(Verb verb, const ScenarioEvent& event);

}  // namespace holdfast::agent::lab::up
