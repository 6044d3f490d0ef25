// Rows of workloads, budgets, leases and namespaces, and formatting functions that all rows share.

#include <algorithm>
#include <map>
#include <vector>

#include "platform/text.h"
#include "sync/printing/age.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync {
namespace {

namespace json = boost::json;

std::string template_part(const json::object& workload, std::string_view field) {
  std::vector<std::string> parts;
  for (const json::value& container :
       dig_list(workload, {"spec", "template", "spec", "containers"})) {
    parts.emplace_back(dig_text(as_object(container), {field}));
  }
  return join(parts, ",");
}

void add_template(json::array& cells, const json::object& workload) {
  cells.emplace_back(template_part(workload, "name"));
  cells.emplace_back(template_part(workload, "image"));
  cells.emplace_back(format_selector(dig_object(workload, {"spec", "selector"})));
}

void deployment_cells(json::array& cells, const json::object& deployment, WallTime now) {
  const json::object& status = dig_object(deployment, {"status"});
  cells.emplace_back(name_of(deployment));
  cells.emplace_back(std::to_string(dig_int(status, {"readyReplicas"})) + "/" +
                     std::to_string(dig_int(deployment, {"spec", "replicas"})));
  cells.emplace_back(dig_int(status, {"updatedReplicas"}));
  cells.emplace_back(dig_int(status, {"availableReplicas"}));
  cells.emplace_back(object_age(deployment, now));
  add_template(cells, deployment);
}

void replicaset_cells(json::array& cells, const json::object& set, WallTime now) {
  cells.emplace_back(name_of(set));
  cells.emplace_back(dig_int(set, {"spec", "replicas"}));
  cells.emplace_back(dig_int(set, {"status", "replicas"}));
  cells.emplace_back(dig_int(set, {"status", "readyReplicas"}));
  cells.emplace_back(object_age(set, now));
  add_template(cells, set);
}

void daemonset_cells(json::array& cells, const json::object& set, WallTime now) {
  cells.emplace_back(name_of(set));
  for (const std::string_view count :
       {"desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled",
        "numberAvailable"}) {
    cells.emplace_back(dig_int(set, {"status", count}));
  }
  cells.emplace_back(format_labels(dig_object(set, {"spec", "template", "spec", "nodeSelector"})));
  cells.emplace_back(object_age(set, now));
  add_template(cells, set);
}

void budget_cells(json::array& cells, const json::object& budget, WallTime now) {
  cells.emplace_back(name_of(budget));
  for (const std::string_view bound : {"minAvailable", "maxUnavailable"}) {
    const json::value* value = dig(budget, {"spec", bound});
    cells.emplace_back(value == nullptr ? "N/A" : int_or_string(*value));
  }
  cells.emplace_back(dig_int(budget, {"status", "disruptionsAllowed"}));
  cells.emplace_back(object_age(budget, now));
}

void lease_cells(json::array& cells, const json::object& lease, WallTime now) {
  cells.emplace_back(name_of(lease));
  cells.emplace_back(dig_text(lease, {"spec", "holderIdentity"}));
  cells.emplace_back(object_age(lease, now));
}

void namespace_cells(json::array& cells, const json::object& space, WallTime now) {
  cells.emplace_back(name_of(space));
  cells.emplace_back(dig_text(space, {"status", "phase"}));
  cells.emplace_back(object_age(space, now));
}

std::string format_requirement(const json::object& requirement) {
  const std::string key(dig_text(requirement, {"key"}));
  const std::string_view op = dig_text(requirement, {"operator"});
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::vector<std::string> values;
  for (const json::value& value : dig_list(requirement, {"values"})) {
    values.emplace_back(as_text(value));
  }
  std::sort(values.begin(), values.end());
  return key + (op == "In" ? " in (" : " notin (") + join(values, ",") + ")";
}

}  // namespace

FillCells workload_cells(std::string_view plural) {
  if (plural == "deployments") return deployment_cells;
  if (plural == "replicasets") return replicaset_cells;
  if (plural == "daemonsets") return daemonset_cells;
  if (plural == "poddisruptionbudgets") return budget_cells;
  if (plural == "leases") return lease_cells;
  if (plural == "namespaces") return namespace_cells;
  return nullptr;
}

std::string format_labels(const json::object& labels) {
  std::vector<std::string> parts;
  for (const auto& label : labels) {
    parts.push_back(std::string(label.key()) + "=" + std::string(as_text(label.value())));
  }
  if (parts.empty()) return "<none>";
  std::sort(parts.begin(), parts.end());
  return join(parts, ",");
}

std::string format_selector(const json::object& selector) {
  std::multimap<std::string_view, std::string> by_key;
  for (const auto& label : dig_object(selector, {"matchLabels"})) {
    std::string text(label.key());
    by_key.emplace(label.key(), text.append("=").append(as_text(label.value())));
  }
  for (const json::value& requirement : dig_list(selector, {"matchExpressions"})) {
    const json::object& one = as_object(requirement);
    by_key.emplace(dig_text(one, {"key"}), format_requirement(one));
  }
  if (by_key.empty()) return "<none>";
  std::vector<std::string> parts;
  for (auto& [key, text] : by_key) parts.push_back(std::move(text));
  return join(parts, ",");
}

std::string object_age(const json::object& object, WallTime now) {
  return age_of(dig(object, {"metadata", "creationTimestamp"}), now);
}

std::string_view text_or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace holdfast::sync
