#include "test/cases/expected_objects.h"

#include <set>

namespace holdfast::cases {
namespace {

using Difference = std::optional<std::string>;

// The taints as "key=value:effect". The time at which a taint was added is not compared.
std::multiset<std::string> taint_set(const json::array& taints) {
  std::multiset<std::string> set;
  for (const json::value& taint : taints) {
    const json::object& one = object_of(taint);
    set.insert(text(one, "key") + "=" + text(one, "value") + ":" + text(one, "effect"));
  }
  return set;
}

std::string joined(const std::multiset<std::string>& set) {
  std::string list;
  for (const std::string& item : set) list += (list.empty() ? "" : ", ") + item;
  return "[" + list + "]";
}

Difference check_taints(std::string_view key, const json::array& wanted, const json::object& node) {
  const auto found = taint_set(array_in(object_in(node, "spec"), "taints"));
  const auto listed = taint_set(wanted);
  bool fine = key != "taints" || found == listed;
  for (const std::string& taint : listed) {
    if (key == "taintsInclude" && !found.contains(taint)) fine = false;
    if (key == "taintsExclude" && found.contains(taint)) fine = false;
  }
  if (fine) return std::nullopt;
  return std::string(key) + ": expected " + joined(listed) + ", got " + joined(found);
}

const json::object* condition_of(const json::object& object, std::string_view type) {
  for (const json::value& condition : array_in(object_in(object, "status"), "conditions")) {
    if (text(object_of(condition), "type") == type) return &object_of(condition);
  }
  return nullptr;
}

Difference check_conditions(const json::object& wanted, const json::object& object) {
  for (const auto& field : wanted) {
    const std::string_view type(field.key().data(), field.key().size());
    const json::object* found = condition_of(object, type);
    if (found != nullptr && matches(field.value(), *found)) continue;
    return "condition " + std::string(type) + ": expected " + shown(field.value()) + ", got " +
           (found == nullptr ? "none" : shown(json::value(*found)));
  }
  return std::nullopt;
}

Difference check_condition_types(const json::array& wanted, const json::object& node) {
  std::multiset<std::string> found;
  for (const json::value& condition : array_in(object_in(node, "status"), "conditions")) {
    found.insert(text(object_of(condition), "type"));
  }
  std::multiset<std::string> listed;
  for (const json::value& type : wanted) listed.insert(std::string(text_of(type)));
  if (found == listed) return std::nullopt;
  return "conditionTypes: expected " + joined(listed) + ", got " + joined(found);
}

Difference check_value(std::string_view key, const json::value& wanted, const json::value& found) {
  if (same(wanted, found)) return std::nullopt;
  return std::string(key) + ": expected " + shown(wanted) + ", got " + shown(found);
}

Difference check_node(std::string_view key, const json::value& wanted, const json::object& node) {
  if (key.starts_with("taints")) return check_taints(key, array_of(wanted), node);
  if (key == "labels") {
    return check_value(key, wanted, object_in(object_in(node, "metadata"), "labels"));
  }
  if (key == "conditions") return check_conditions(object_of(wanted), node);
  if (key == "conditionTypes") return check_condition_types(array_of(wanted), node);
  throw Malformed(wanted, "unknown expectation");
}

Difference check_pod(std::string_view key, const json::value& wanted, const json::object& pod) {
  const json::object& status = object_in(pod, "status");
  if (key == "conditions") return check_conditions(object_of(wanted), pod);
  if (key == "reason" || key == "message")
    return check_value(key, wanted, json::value(text(status, key)));
  if (key == "terminating") {
    const bool found = find(object_in(pod, "metadata"), "deletionTimestamp") != nullptr;
    return check_value(key, wanted, found);
  }
  if (key == "conditionsAbsent") {
    for (const json::value& type : array_of(wanted)) {
      const std::string_view name = text_of(type);
      if (condition_of(pod, name) != nullptr) {
        return "condition " + std::string(name) + ": expected none";
      }
    }
    return std::nullopt;
  }
  throw Malformed(wanted, "unknown expectation");
}

using Compare = Difference (*)(std::string_view, const json::value&, const json::object&);

Difference check_object(const std::string& name, const json::object& wanted,
                        const json::object* found, Compare compare) {
  for (const auto& field : wanted) {
    const std::string_view key(field.key().data(), field.key().size());
    Difference difference;
    if (key == "exists") {
      difference = check_value(key, field.value(), found != nullptr);
    } else if (found == nullptr) {
      difference = "is not there";
    } else {
      difference = compare(key, field.value(), *found);
    }
    if (difference) return name + " " + *difference;
  }
  return std::nullopt;
}

}  // namespace

Difference check_nodes(const json::object& wanted, const SimulatedApiServer& server) {
  for (const auto& field : wanted) {
    const std::string name(field.key());
    const json::object* node = server.find_object("Node", "", name);
    auto difference = check_object("node " + name, object_of(field.value()), node, check_node);
    if (difference) return difference;
  }
  return std::nullopt;
}

Difference check_pods(const json::object& wanted, const SimulatedApiServer& server) {
  for (const auto& field : wanted) {
    const std::string key(field.key());
    const auto slash = key.find('/');
    const json::object* pod =
        server.find_object("Pod", key.substr(0, slash), key.substr(slash + 1));
    auto difference = check_object("pod " + key, object_of(field.value()), pod, check_pod);
    if (difference) return difference;
  }
  return std::nullopt;
}

}  // namespace holdfast::cases
