#include "test/cases/preemption/input.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "sync/wire/codec.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

template <class T>
T read_object(const json::value& value) {
  auto object = sync::wire::decode<T>(value);
  if (!object) throw Malformed(value, object.error().what);
  return std::move(*object);
}

const json::object& extender_named(const json::object& given, const std::string& name) {
  for (const json::value& each : array_in(given, "extenders")) {
    if (needs_text(object_of(each), "name") == name) return each.get_object();
  }
  throw std::runtime_error("no extender " + name);
}

}  // namespace

Input::Input(const json::object& all) : given(all) {
  std::set<std::string> names;
  for (const json::value& node : array_in(given, "nodes")) {
    sync::Node read;
    if (node.is_string()) {
      read.metadata.name = std::string(node.get_string());
    } else {
      read = read_object<sync::Node>(node);
    }
    if (read.metadata.name.empty()) throw Malformed(node, "the node has no name");
    if (!names.insert(read.metadata.name).second) throw Malformed(node, "names an earlier node");
    cluster.set_node(std::move(read));
  }
  for (const schedule::PodRef& each : distinct_pods(array_in(given, "pods"))) {
    if (!each->node().empty()) cluster.set_pod(each);
  }
  std::vector<sync::PodDisruptionBudget> read;
  for (const json::value& each : array_in(given, "pdbs")) {
    read.push_back(read_object<sync::PodDisruptionBudget>(each));
  }
  budgets = schedule::Budgets(read);
  for (const json::value& each : array_in(given, "nominated")) {
    const json::object& one = object_of(each);
    nominator.add(pod(needs(one, "pod")), needs_text(one, "node"));
  }
}

schedule::PodRef Input::pod(const json::value& object) {
  return schedule::view_of(read_object<sync::Pod>(object), cluster.symbols());
}

schedule::PodRef Input::pod_at(std::string_view key) { return pod(needs(given, key)); }

std::vector<schedule::PodRef> Input::pods(const json::array& objects) {
  std::vector<schedule::PodRef> all;
  for (const json::value& each : objects) all.push_back(pod(each));
  return all;
}

std::vector<schedule::PodRef> Input::distinct_pods(const json::array& objects) {
  std::set<std::string> uids;
  std::vector<schedule::PodRef> all;
  for (const json::value& each : objects) {
    all.push_back(pod(each));
    const std::string& uid = all.back()->uid();
    if (!uids.insert(uid).second)
      throw Malformed(each, "has the uid " + uid + " of an earlier pod");
  }
  return all;
}

const schedule::NodeView& Input::node(const json::value& name) const {
  const schedule::NodeView* found = cluster.find(text_of(name));
  if (found == nullptr) throw Malformed(name, "no node has this name");
  return *found;
}

schedule::NodeFitStatuses Input::fit_statuses() const {
  schedule::NodeFitStatuses fit_statuses;
  for (const auto& field : object_in(given, "nodeStatuses")) {
    const std::string name(field.key().data(), field.key().size());
    const schedule::NodeView* node = cluster.find(name);
    if (node != nullptr) fit_statuses.set(node->position, read_status(field.value()));
  }
  if (const json::value* absent = find(given, "absentNodesStatus")) {
    fit_statuses.set_absent(read_status(*absent));
  }
  return fit_statuses;
}

schedule::Code read_code(const json::value& name) {
  using schedule::Code;
  for (const Code code :
       {Code::success, Code::error, Code::unschedulable, Code::unresolvable, Code::pending}) {
    if (schedule::to_string(code) == text_of(name)) return code;
  }
  throw Malformed(name, "unknown code " + excerpt(name));
}

schedule::FitStatus read_status(const json::value& status) {
  if (status.is_null()) return {};
  const json::object& object = object_of(status);
  return {read_code(needs(object, "code")), texts_in(object, "reasons")};
}

schedule::Diagnosis read_diagnosis(const json::object& object) {
  schedule::Diagnosis diagnosis;
  diagnosis.nodes = static_cast<std::size_t>(integer(object, "numAllNodes", {}));
  std::size_t position = 0;
  for (const auto& field : object_in(object, "nodeStatuses")) {
    diagnosis.fit_statuses.set(position++, read_status(field.value()));
  }
  if (const json::value* absent = find(object, "absentNodesStatus")) {
    diagnosis.fit_statuses.set_absent(read_status(*absent));
  }
  diagnosis.prefilter = text(object, "preFilterMessage");
  diagnosis.postfilter = text(object, "postFilterMessage");
  for (const std::string& name : texts_in(object, "unschedulablePlugins")) {
    diagnosis.unschedulable_plugins.emplace(name);
  }
  for (const std::string& name : texts_in(object, "pendingPlugins")) {
    diagnosis.pending_plugins.emplace(name);
  }
  return diagnosis;
}

std::vector<schedule::ExtenderSettings> read_extenders(const json::object& given) {
  std::vector<schedule::ExtenderSettings> all;
  for (const json::value& each : array_in(given, "extenders")) {
    const json::object& one = object_of(each);
    schedule::ExtenderSettings settings;
    settings.url = needs_text(one, "name");
    settings.preempts = flag(one, "supportsPreemption");
    settings.ignorable = flag(one, "ignorable");
    if (!flag(one, "interested")) settings.managed_resources = {"example.com/nobody-asks"};
    all.push_back(std::move(settings));
  }
  return all;
}

Result<schedule::ExtenderAnswer> ask_extender(const json::object& given, const std::string& name,
                                              const std::vector<schedule::Candidate>& candidates) {
  const json::object& behaviour = needs_object(extender_named(given, name), "behaviour");
  const std::string kind = needs_text(behaviour, "kind");
  if (kind == "error") return fail(Errc::unavailable, text(behaviour, "message"));
  if (kind == "denyAll") return schedule::ExtenderAnswer();
  if (kind == "emptyVictims") return schedule::ExtenderAnswer{{needs_text(behaviour, "node"), {}}};
  if (kind != "allowAll" && kind != "allowNodes") {
    throw Malformed(behaviour, "kind", "unknown behaviour " + kind);
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
  return {needs_text(object, "node"), input.distinct_pods(array_of(needs(object, "victims"))),
          integer(object, "numPDBViolations", {})};
}

}  // namespace holdfast::cases
