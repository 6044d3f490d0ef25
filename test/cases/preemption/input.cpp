#include "test/cases/preemption/input.h"

#include <algorithm>
#include <stdexcept>

#include "sync/wire/codec.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

template <class T>
T read_object(const json::value& value) {
  auto object = sync::wire::decode<T>(value);
  if (!object) throw std::runtime_error(object.error().what);
  return std::move(*object);
}

schedule::Code code_of(std::string_view name) {
  using schedule::Code;
  for (const Code code :
       {Code::success, Code::error, Code::unschedulable, Code::unresolvable, Code::pending}) {
    if (schedule::to_string(code) == name) return code;
  }
  throw std::runtime_error("unknown code " + std::string(name));
}

const json::object& extender_named(const json::object& given, const std::string& name) {
  for (const json::value& each : array_in(given, "extenders")) {
    if (text(each.as_object(), "name") == name) return each.get_object();
  }
  throw std::runtime_error("no extender " + name);
}

}  // namespace

Input::Input(const json::object& all) : given(all) {
  for (const json::value& node : array_in(given, "nodes")) {
    sync::Node read;
    if (node.is_string()) {
      read.metadata.name = std::string(node.get_string());
    } else {
      read = read_object<sync::Node>(node);
    }
    cluster.set_node(std::move(read));
  }
  for (const schedule::PodRef& each : pods(array_in(given, "pods"))) {
    if (!each->node().empty()) cluster.set_pod(each);
  }
  std::vector<sync::PodDisruptionBudget> read;
  for (const json::value& each : array_in(given, "pdbs")) {
    read.push_back(read_object<sync::PodDisruptionBudget>(each));
  }
  budgets = schedule::Budgets(read);
  for (const json::value& each : array_in(given, "nominated")) {
    const json::object& one = each.as_object();
    nominator.add(pod(one.at("pod")), text(one, "node"));
  }
}

schedule::PodRef Input::pod(const json::value& object) {
  return schedule::view_of(read_object<sync::Pod>(object), cluster.symbols());
}

schedule::PodRef Input::pod_at(std::string_view key) {
  return pod(given.at({key.data(), key.size()}));
}

std::vector<schedule::PodRef> Input::pods(const json::array& objects) {
  std::vector<schedule::PodRef> all;
  for (const json::value& each : objects) all.push_back(pod(each));
  return all;
}

schedule::NodeFitStatuses Input::verdicts() const {
  schedule::NodeFitStatuses verdicts;
  for (const auto& field : object_in(given, "nodeStatuses")) {
    const std::string name(field.key().data(), field.key().size());
    const schedule::NodeView* node = cluster.find(name);
    if (node != nullptr) verdicts.set(node->position, read_status(field.value()));
  }
  if (const json::value* absent = find(given, "absentNodesStatus")) {
    verdicts.set_absent(read_status(*absent));
  }
  return verdicts;
}

schedule::FitStatus read_status(const json::value& status) {
  if (status.is_null()) return {};
  const json::object& object = status.as_object();
  schedule::FitStatus verdict{code_of(text(object, "code")), {}};
  for (const json::value& reason : array_in(object, "reasons")) {
    verdict.reasons.emplace_back(reason.as_string());
  }
  return verdict;
}

schedule::Diagnosis read_diagnosis(const json::object& object) {
  schedule::Diagnosis diagnosis;
  diagnosis.nodes = static_cast<std::size_t>(number(object, "numAllNodes"));
  std::size_t position = 0;
  for (const auto& field : object_in(object, "nodeStatuses")) {
    diagnosis.verdicts.set(position++, read_status(field.value()));
  }
  if (const json::value* absent = find(object, "absentNodesStatus")) {
    diagnosis.verdicts.set_absent(read_status(*absent));
  }
  diagnosis.prefilter = text(object, "preFilterMessage");
  diagnosis.postfilter = text(object, "postFilterMessage");
  for (const json::value& name : array_in(object, "unschedulablePlugins")) {
    diagnosis.unschedulable_plugins.emplace(name.as_string());
  }
  for (const json::value& name : array_in(object, "pendingPlugins")) {
    diagnosis.pending_plugins.emplace(name.as_string());
  }
  return diagnosis;
}

std::vector<schedule::ExtenderSettings> read_extenders(const json::object& given) {
  std::vector<schedule::ExtenderSettings> all;
  for (const json::value& each : array_in(given, "extenders")) {
    const json::object& one = each.as_object();
    schedule::ExtenderSettings settings;
    settings.url = text(one, "name");
    settings.preempts = flag(one, "supportsPreemption");
    settings.ignorable = flag(one, "ignorable");
    if (!flag(one, "interested")) settings.managed_resources = {"example.com/nobody-asks"};
    all.push_back(std::move(settings));
  }
  return all;
}

Result<schedule::ExtenderAnswer> ask_extender(const json::object& given, const std::string& name,
                                              const std::vector<schedule::Candidate>& candidates) {
  const json::object& behaviour = object_in(extender_named(given, name), "behaviour");
  const std::string kind = text(behaviour, "kind");
  if (kind == "error") return fail(Errc::unavailable, text(behaviour, "message"));
  if (kind == "denyAll") return schedule::ExtenderAnswer();
  if (kind == "emptyVictims") return schedule::ExtenderAnswer{{text(behaviour, "node"), {}}};
  if (kind != "allowAll" && kind != "allowNodes") {
    throw std::runtime_error("unknown behaviour " + kind);
  }
  const json::array& allowed = array_in(behaviour, "nodes");
  schedule::ExtenderAnswer answer;
  for (const schedule::Candidate& each : candidates) {
    const json::value node(each.node);
    const bool passes =
        kind == "allowAll" || std::find(allowed.begin(), allowed.end(), node) != allowed.end();
    if (!passes) continue;
    schedule::MetaVictims& victims = answer[each.node];
    victims.violations = each.violations;
    for (const schedule::PodRef& victim : each.victims) victims.uids.push_back(victim->uid());
  }
  return answer;
}

std::vector<std::string> names_of(const std::vector<schedule::PodRef>& pods) {
  std::vector<std::string> names;
  for (const schedule::PodRef& pod : pods) names.push_back(pod->name());
  return names;
}

schedule::Candidate read_candidate(Input& input, const json::object& object) {
  return {text(object, "node"), input.pods(array_in(object, "victims")),
          static_cast<std::int64_t>(number(object, "numPDBViolations"))};
}

}  // namespace holdfast::cases
