#include "agent/lab/up/request.h"

#include <algorithm>

#include "agent/lab/scenario/describe.h"
#include "agent/lab/scenario/sections.h"
#include "agent/lab/up/observed.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::up {
namespace {

namespace json = sync::json;

Result<std::string> word_of(std::string_view key, const json::value& value) {
  if (!value.is_string()) return fail(Errc::invalid, std::string(key) + ": expected a string");
  return std::string(value.get_string());
}

Status read_targets_of(Request& request, const json::value& value, const RequestLimits& limits) {
  const json::array* all = value.if_array();
  if (all == nullptr) return fail(Errc::invalid, "targets: expected a list");
  if (all->size() > limits.targets) {
    return fail(Errc::invalid, "targets: more than " + std::to_string(limits.targets));
  }
  for (const json::value& one : *all) {
    TRY(std::string target, word_of("targets", one));
    request.targets.push_back(std::move(target));
  }
  return {};
}

Status read_fields_of(Request& request, const json::value& value, const RequestLimits& limits) {
  const json::object* all = value.if_object();
  if (all == nullptr) return fail(Errc::invalid, "fields: expected an object");
  if (all->size() > limits.fields) {
    return fail(Errc::invalid, "fields: more than " + std::to_string(limits.fields));
  }
  for (const auto& [key, one] : *all) {
    TRY(request.fields[std::string(key)], word_of(key, one));
  }
  return {};
}

YamlNode scalar(std::string text) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = std::move(text);
  return node;
}

bool has_processes(const Request& request) {
  return request.action == "kill" || request.action == "pause" || request.action == "resume";
}

bool names_nodes(const Request& request) {
  return std::none_of(
      request.targets.begin(), request.targets.end(),
      [](const std::string& target) { return target == "cloud" || target == "api-server"; });
}

// The event that a scenario file would have.
YamlNode event_of(const Request& request) {
  YamlNode targets;
  if (request.targets.size() == 1) {
    targets = scalar(request.targets.front());
  } else {
    targets.kind = YamlNode::Kind::list;
    for (const std::string& target : request.targets) targets.items.push_back(scalar(target));
  }
  YamlNode event;
  event.kind = YamlNode::Kind::map;
  event.entries.push_back({"at", {}, scalar("0s")});
  const std::string key = request.action == "resume" ? "pause" : request.action;
  event.entries.push_back({key, {}, std::move(targets)});
  for (const auto& [name, text] : request.fields) {
    event.entries.push_back({name, {}, scalar(text)});
  }
  if (has_processes(request) && names_nodes(request) && !request.fields.contains("process")) {
    event.entries.push_back({"process", {}, scalar("edge")});
  }
  return event;
}

const std::string* target_of(const Action& action) {
  return std::visit(
      [](const auto& one) -> const std::string* {
        if constexpr (requires { one.target; }) return &one.target;
        return nullptr;
      },
      action);
}

void set_target(Action& action, const std::string& target) {
  std::visit(
      [&target](auto& one) {
        if constexpr (requires { one.target; }) one.target = target;
      },
      action);
}

// The event for each node of its target.
void add_for_nodes(std::vector<ScenarioEvent>& events, const ScenarioEvent& event,
                   const std::vector<Member>& members) {
  const std::string* target = target_of(event.action);
  bool found = false;
  for (const Member& member : members) {
    if (target == nullptr) break;
    if (*target != "all" && *target != member.site && *target != member.name) continue;
    ScenarioEvent one = event;
    set_target(one.action, member.name);
    events.push_back(std::move(one));
    found = true;
  }
  if (!found) events.push_back(event);
}

// "holdfast-edge of edge-1", "holdfast-cloud".
std::string process_text(Process process, const std::string& target) {
  std::string text(to_string(process));
  if (process != Process::cloud && process != Process::api_server) text += " of " + target;
  return text;
}

std::string cut_text(const Cut& cut) {
  std::string text = "cut " + cut.target;
  if (cut.direction == Direction::up) text += ", up only";
  if (cut.direction == Direction::down) text += ", down only";
  if (cut.kind == CutKind::refuse) text += ", connections are refused";
  if (cut.kind == CutKind::reset) text += ", connections are reset";
  return text;
}

struct ActionWords {
  Verb verb;

  std::string operator()(const Cut& cut) const { return cut_text(cut); }
  std::string operator()(const Heal& heal) const { return "heal " + heal.target; }
  std::string operator()(const Degrade& degrade) const {
    return "degrade " + degrade.target + " to " + degrade.link.name;
  }
  std::string operator()(const PowerLoss& loss) const { return "power loss of " + loss.target; }
  std::string operator()(const Kill& kill) const {
    return "kill " + process_text(kill.process, kill.target);
  }
  std::string operator()(const Pause& pause) const {
    return (verb == Verb::end ? "resume " : "pause ") + process_text(pause.process, pause.target);
  }
  std::string operator()(const ClockStep& step) const {
    return "clock of " + step.target + " by " + format_duration(step.by);
  }
  std::string operator()(const DiskFull& full) const { return "disk full on " + full.target; }
  template <class Other>
  std::string operator()(const Other& /*other*/) const {
    return "fault";
  }
};

}  // namespace

const std::vector<std::string_view>& request_actions() {
  static const std::vector<std::string_view> actions = {
      "cut", "heal", "degrade", "power-loss", "kill", "pause", "resume", "clock-step", "disk-full"};
  return actions;
}

std::string json_of(const Request& request) {
  json::array targets;
  for (const std::string& target : request.targets) targets.emplace_back(target);
  json::object fields;
  for (const auto& [name, text] : request.fields) fields[name] = text;
  return sync::wire::serialize(json::object{
      {"action", request.action}, {"targets", std::move(targets)}, {"fields", std::move(fields)}});
}

Result<Request> parse_request(std::string_view body, const RequestLimits& limits) {
  TRY(const json::value parsed, sync::wire::parse_json(body));
  const json::object* object = parsed.if_object();
  if (object == nullptr) return fail(Errc::invalid, "expected an object");
  Request request;
  for (const auto& [key, value] : *object) {
    Status read;
    if (key == "action") {
      TRY(request.action, word_of(key, value));
    } else if (key == "targets") {
      read = read_targets_of(request, value, limits);
    } else if (key == "fields") {
      read = read_fields_of(request, value, limits);
    } else {
      read = fail(Errc::invalid, "unexpected field " + quoted_text(key));
    }
    if (!read) return fail(read.error());
  }
  return request;
}

Result<Command> command_of(const Request& request, const Scenario& fleet) {
  ScenarioProblems problems("");
  const auto& known = request_actions();
  if (std::find(known.begin(), known.end(), request.action) == known.end()) {
    return fail(Errc::invalid, "unknown action " + quoted_text(request.action) +
                                   problems.hint(request.action, known));
  }
  if (request.targets.empty()) return fail(Errc::invalid, request.action + ": names no target");
  FieldReader fields(problems);
  const OpenBeside open = [](const std::string& name) -> Result<FileBeside> {
    return fail(Errc::invalid, "a command cannot read files: " + name);
  };
  SectionReader reader{fields, open};
  Scenario read;
  read.duration = reader.limits.duration;
  const YamlNode event = event_of(request);
  read_event(reader, ScenarioNames(fleet), {event, ""}, read);
  if (!problems.empty()) return tl::unexpected<Error>(problems.error());
  for (const ScenarioEvent& each : read.events) {
    if (!std::holds_alternative<PowerLoss>(each.action) || each.duration) continue;
    return fail(Errc::invalid, "power-loss: say with --for when the node boots again");
  }
  Command command{.verb = request.action == "resume" ? Verb::end : Verb::begin, .events = {}};
  const auto members = members_of(fleet);
  for (const ScenarioEvent& each : read.events) add_for_nodes(command.events, each, members);
  return command;
}

std::string words_of(Verb verb, const ScenarioEvent& event) {
  std::string text = std::visit(ActionWords{verb}, event.action);
  if (verb == Verb::begin && event.duration) text += " for " + format_duration(*event.duration);
  return text;
}

}  // namespace holdfast::agent::lab::up
