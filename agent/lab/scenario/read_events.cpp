// The section `events`: what happens when, and to whom.

#include <algorithm>
#include <optional>

#include "agent/lab/scenario/sections.h"
#include "agent/lab/scenario/units.h"

namespace holdfast::agent::lab {
namespace {

// What the readers of one event share.
struct EventReader {
  SectionReader& reader;
  const ScenarioNames& names;
  const YamlItem& item;     // the event
  const YamlItem& subject;  // the value of its action's key
  std::vector<std::string> targets = {};
  Duration until;  // the scenario's end
};

// A kind of action. `make` reads the event with the common fields and its own.
struct ActionKind {
  std::string_view key;
  NameKinds targets = 0;  // 0: the value names no target
  bool lasts = false;     // whether `for` makes sense
  std::function<Action(EventReader&, const std::string& target, FieldTable& common)> make;
};

// Reads the keys of the event with the table of an action.
void read_extra(EventReader& event, FieldTable& common, FieldTable extra) {
  common.insert(common.end(), std::make_move_iterator(extra.begin()),
                std::make_move_iterator(extra.end()));
  event.reader.fields.map(event.item, common);
}

ReadItem cut_kind(FieldReader& fields, CutKind& out) {
  return fields.choice<CutKind>(out, "kind",
                                {{"black-hole", CutKind::black_hole},
                                 {"refuse", CutKind::refuse},
                                 {"reset", CutKind::reset}});
}

Action make_cut(EventReader& event, const std::string& target, FieldTable& common) {
  FieldReader& fields = event.reader.fields;
  Cut cut{.target = target};
  const std::vector<std::pair<std::string_view, Direction>> directions = {
      {"both", Direction::both}, {"up", Direction::up}, {"down", Direction::down}};
  read_extra(event, common,
             {{"direction", fields.choice<Direction>(cut.direction, "direction", directions)},
              {"kind", cut_kind(fields, cut.kind)}});
  return cut;
}

Action make_flap(EventReader& event, const std::string& target, FieldTable& common) {
  FieldReader& fields = event.reader.fields;
  Flap flap{.target = target};
  constexpr Duration least = std::chrono::milliseconds(10);
  read_extra(event, common,
             {{"up", fields.duration(flap.up, least, event.until)},
              {"down", fields.duration(flap.down, least, event.until)},
              {"kind", cut_kind(fields, flap.kind)}});
  fields.require(event.item, "up");
  fields.require(event.item, "down");
  return flap;
}

Action make_degrade(EventReader& event, const std::string& target, FieldTable& common) {
  Degrade degrade{.target = target, .link = {}};
  read_extra(event, common, {{"link", link_reader(event.reader, degrade.link)}});
  event.reader.fields.require(event.item, "link");
  // Every further target gets a copy of the trace.
  const std::size_t copies = std::max<std::size_t>(event.targets.size(), 1) - 1;
  if (!degrade.link.trace.empty()) {
    count_points(event.reader, event.item, degrade.link.trace.size(), copies);
  }
  return degrade;
}

// A problem for each target that has no holdfast-edge.
void check_edges(EventReader& event) {
  for (const std::string& target : event.targets) {
    const Site* site = event.names.site_of(target);
    if (site == nullptr || site->agent == NodeAgent::holdfast) continue;
    event.reader.fields.wrong(event.subject,
                              "site " + site->name + " has no holdfast-edge (agent: none)");
  }
}

Process read_process(EventReader& event, const std::string& target, FieldTable& common) {
  FieldReader& fields = event.reader.fields;
  Process process = Process::edge;
  if (target == "cloud" || target == "api-server") {
    read_extra(event, common, {});
    return target == "cloud" ? Process::cloud : Process::api_server;
  }
  read_extra(event, common,
             {{"process", fields.choice<Process>(process, "process",
                                                 {{"kubelet", Process::kubelet},
                                                  {"edge", Process::edge},
                                                  {"node-agent", Process::node_agent}})}});
  fields.require(event.item, "process");
  if (process == Process::edge) check_edges(event);
  return process;
}

Action make_kill(EventReader& event, const std::string& target, FieldTable& common) {
  return Kill{.process = read_process(event, target, common), .target = target};
}

Action make_pause(EventReader& event, const std::string& target, FieldTable& common) {
  return Pause{.process = read_process(event, target, common), .target = target};
}

Action make_clock_step(EventReader& event, const std::string& target, FieldTable& common) {
  FieldReader& fields = event.reader.fields;
  ClockStep step{.target = target};
  const Duration most = event.reader.limits.duration;
  read_extra(event, common, {{"by", fields.duration(step.by, -most, most)}});
  fields.require(event.item, "by");
  return step;
}

Action make_clock_drift(EventReader& event, const std::string& target, FieldTable& common) {
  FieldReader& fields = event.reader.fields;
  ClockDrift drift{.target = target};
  std::string text;
  read_extra(event, common, {{"rate", fields.text(text)}});
  fields.require(event.item, "rate");
  const YamlNode* node = event.item.node.find("rate");
  if (text.empty() || node == nullptr) return drift;
  const auto rate = parse_number(text);
  if (rate && *rate >= 0.5 && *rate <= 2) {
    drift.rate = *rate;
  } else {
    fields.wrong({*node, path_of(event.item.path, "rate")},
                 "expected a number from 0.5 to 2, not " + quoted_text(text));
  }
  return drift;
}

Action make_scale(EventReader& event, const std::string& target, FieldTable& common) {
  FieldReader& fields = event.reader.fields;
  Scale scale{.workload = target};
  read_extra(event, common,
             {{"replicas", fields.integer(scale.replicas, 0, event.reader.limits.replicas)}});
  fields.require(event.item, "replicas");
  const Workload* workload = event.names.workload(target);
  if (workload != nullptr &&
      (workload->kind == WorkloadKind::daemon_set || workload->kind == WorkloadKind::job)) {
    fields.wrong(event.subject,
                 "a " + std::string(kind_name(workload->kind)) + " cannot be scaled");
  }
  return scale;
}

Action make_rollout(EventReader& event, const std::string& target, FieldTable& common) {
  read_extra(event, common, {});
  for (const std::string& name : event.targets) {
    if (event.names.workload(name)->kind != WorkloadKind::job) continue;
    event.reader.fields.wrong(event.subject, "the template of a job cannot change");
  }
  return Rollout{.workload = target};
}

Action make_delete_pods(EventReader& event, const std::string& target, FieldTable& common) {
  DeletePods made{.workload = target, .on = {}};
  FieldReader& fields = event.reader.fields;
  const EventReader* shared = &event;
  const CheckText check = [shared](const std::string& name) {
    return shared->names.complaint(name, name_kind::site | name_kind::node,
                                   shared->reader.fields.problems());
  };
  read_extra(event, common, {{"on", fields.text(made.on, check)}});
  return made;
}

Action make_api_fault(EventReader& event, const std::string& /*target*/, FieldTable& common) {
  ApiServerFault made;
  event.reader.fields.choice<ApiFault>(
      made.fault, "fault",
      {{"unavailable", ApiFault::unavailable},
       {"overloaded", ApiFault::overloaded},
       {"silent-watch", ApiFault::silent_watch},
       {"gone", ApiFault::gone},
       {"empty-list", ApiFault::empty_list},
       {"old-version", ApiFault::old_version},
       {"not-api", ApiFault::not_api},
       {"bad-certificate", ApiFault::bad_certificate}})(event.subject);
  read_extra(event, common, {});
  return made;
}

// An action that has nothing but its target.
template <class T>
Action make_plain(EventReader& event, const std::string& target, FieldTable& common) {
  read_extra(event, common, {});
  return T{target};
}

const std::vector<ActionKind>& action_kinds() {
  constexpr NameKinds nodes = name_kind::nodes;
  constexpr NameKinds links = nodes | name_kind::cloud;
  constexpr NameKinds processes = links | name_kind::api_server;
  constexpr NameKinds some = name_kind::site | name_kind::node;
  static const std::vector<ActionKind> kinds = {
      {"cut", links, true, make_cut},
      {"heal", links, false, make_plain<Heal>},
      {"flap", links, true, make_flap},
      {"degrade", links, true, make_degrade},
      {"power-loss", nodes, true, make_plain<PowerLoss>},
      {"kill", processes, true, make_kill},
      {"pause", processes, true, make_pause},
      {"clock-step", links, false, make_clock_step},
      {"clock-drift", nodes, true, make_clock_drift},
      {"disk-full", nodes, true, make_plain<DiskFull>},
      {"drain", some, false, make_plain<Drain>},
      {"uncordon", some, false, make_plain<Uncordon>},
      {"rollout", name_kind::workload, false, make_rollout},
      {"scale", name_kind::workload, false, make_scale},
      {"delete-pods", name_kind::workload, false, make_delete_pods},
      {"api-server", 0, true, make_api_fault},
  };
  return kinds;
}

// The action of an event; nullptr, with a problem, if it has none or several.
const ActionKind* find_action(FieldReader& fields, const YamlItem& item) {
  const ActionKind* found = nullptr;
  std::vector<std::string_view> known;
  for (const ActionKind& kind : action_kinds()) {
    known.push_back(kind.key);
    if (item.node.find(kind.key) == nullptr) continue;
    if (found != nullptr) {
      fields.wrong(item,
                   "has two actions: " + std::string(found->key) + " and " + std::string(kind.key));
      return nullptr;
    }
    found = &kind;
  }
  if (found != nullptr) return found;
  for (const YamlEntry& entry : item.node.entries) {
    const std::string hint = fields.problems().hint(entry.key, known);
    if (hint.empty()) continue;
    fields.problems().add(entry.place, path_of(item.path, entry.key), "unknown action" + hint);
    return nullptr;
  }
  fields.wrong(item, "has no action; known are " + alternatives(known, "and"));
  return nullptr;
}

// The targets of an event: a word or a list of words.
std::vector<std::string> read_targets(EventReader& event, const ActionKind& kind) {
  FieldReader& fields = event.reader.fields;
  std::vector<std::string> targets;
  if (kind.targets == 0) return targets;
  const ReadItem one = [&event, &fields, &kind, &targets](const YamlItem& item) {
    const std::string* name = fields.word(item, "a target's name");
    if (name == nullptr) return;
    const auto complaint = event.names.complaint(*name, kind.targets, fields.problems());
    if (!complaint.empty()) return fields.wrong(item, complaint);
    const Workload* workload = event.names.workload(*name);
    const bool is_workload = kind.targets == name_kind::workload && workload != nullptr;
    targets.push_back(is_workload ? workload->name : *name);
  };
  if (event.subject.node.kind != YamlNode::Kind::list) {
    one(event.subject);
  } else {
    fields.list(event.subject, event.reader.limits.targets, one);
  }
  return targets;
}

// Times must lie inside of the scenario.
void check_times(EventReader& event, const ScenarioEvent& made) {
  FieldReader& fields = event.reader.fields;
  fields.require(event.item, "at");
  if (!made.duration || made.at + *made.duration <= event.until) return;
  fields.wrong({*event.item.node.find("for"), path_of(event.item.path, "for")},
               "ends at " + format_duration(made.at + *made.duration) +
                   ", after the scenario's end at " + format_duration(event.until));
}

// The same action for another target.
Action with_target(Action action, const std::string& target) {
  std::visit(
      [&target](auto& each) {
        if constexpr (requires { each.target; }) {
          each.target = target;
        } else if constexpr (requires { each.workload; }) {
          each.workload = target;
        }
      },
      action);
  return action;
}

void add_event(EventReader& event, const ActionKind& kind, Scenario& scenario) {
  FieldReader& fields = event.reader.fields;
  ScenarioEvent made;
  made.line = event.item.node.place.source == 0 ? event.item.node.place.line : 0;
  Duration lasts{};
  const ReadItem done = [](const YamlItem& /*item*/) {};
  const ReadItem no_end = [&fields, &kind](const YamlItem& item) {
    fields.wrong(item, std::string(kind.key) + " happens once: it has no \"for\"");
  };
  FieldTable common = {
      {"at", fields.duration(made.at, Duration::zero(), event.until)},
      {"for",
       kind.lasts ? fields.duration(lasts, std::chrono::milliseconds(1), event.until) : no_end},
      {kind.key, done}};
  event.targets = read_targets(event, kind);
  const std::size_t before = fields.problems().count();
  made.action = kind.make(event, event.targets.empty() ? "" : event.targets.front(), common);
  if (lasts > Duration::zero()) made.duration = lasts;
  check_times(event, made);
  if (kind.targets == 0) scenario.events.push_back(made);
  for (const std::string& target : event.targets) {
    scenario.events.push_back(made);
    scenario.events.back().action = with_target(made.action, target);
    if (fields.problems().count() > before) return;
  }
}

}  // namespace

void read_event(SectionReader& reader, const ScenarioNames& names, const YamlItem& item,
                Scenario& scenario) {
  if (item.node.kind != YamlNode::Kind::map) return reader.fields.map(item, {});
  const ActionKind* kind = find_action(reader.fields, item);
  if (kind == nullptr) return;
  const YamlItem subject{*item.node.find(kind->key), path_of(item.path, kind->key)};
  EventReader event{reader, names, item, subject, {}, scenario.duration};
  add_event(event, *kind, scenario);
}

void read_events(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  const ScenarioNames names(scenario);
  reader.fields.list(item, reader.limits.events,
                     [&reader, &scenario, &names](const YamlItem& each) {
                       read_event(reader, names, each, scenario);
                     });
  std::stable_sort(
      scenario.events.begin(), scenario.events.end(),
      [](const ScenarioEvent& left, const ScenarioEvent& right) { return left.at < right.at; });
}

}  // namespace holdfast::agent::lab
