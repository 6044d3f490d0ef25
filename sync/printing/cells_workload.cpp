// Rows of workloads, budgets, leases and namespaces, and formatting functions that all rows share.

#include <algorithm>
#include <map>
#include <vector>

#include "platform/text.h"
#include "sync/printing/age.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

std::string template_part(const json::object& workload, std::string_view field) {
  std::vector<std::string> parts;
  for (const json::value& container :
       wire::dig_list(workload, {"spec", "template", "spec", "containers"})) {
    parts.emplace_back(wire::dig_text(wire::as_object(container), {field}));
  }
  return join(parts, ",");
}

void add_template(json::array& cells, const json::object& workload) {
  template_cells(cells, workload);
  cells.emplace_back(format_selector(wire::dig_object(workload, {"spec", "selector"})));
}

void deployment_cells(json::array& cells, const json::object& deployment, WallTime now) {
  const json::object& status = wire::dig_object(deployment, {"status"});
  cells.emplace_back(wire::name_of(deployment));
  cells.emplace_back(std::to_string(wire::dig_int(status, {"readyReplicas"})) + "/" +
                     std::to_string(wire::dig_int(deployment, {"spec", "replicas"})));
  cells.emplace_back(wire::dig_int(status, {"updatedReplicas"}));
  cells.emplace_back(wire::dig_int(status, {"availableReplicas"}));
  cells.emplace_back(object_age(deployment, now));
  add_template(cells, deployment);
}

void replicaset_cells(json::array& cells, const json::object& set, WallTime now) {
  cells.emplace_back(wire::name_of(set));
  cells.emplace_back(wire::dig_int(set, {"spec", "replicas"}));
  cells.emplace_back(wire::dig_int(set, {"status", "replicas"}));
  cells.emplace_back(wire::dig_int(set, {"status", "readyReplicas"}));
  cells.emplace_back(object_age(set, now));
  add_template(cells, set);
}

void daemonset_cells(json::array& cells, const json::object& set, WallTime now) {
  cells.emplace_back(wire::name_of(set));
  for (const std::string_view count :
       {"desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled",
        "numberAvailable"}) {
    cells.emplace_back(wire::dig_int(set, {"status", count}));
  }
  cells.emplace_back(
      format_labels(wire::dig_object(set, {"spec", "template", "spec", "nodeSelector"})));
  cells.emplace_back(object_age(set, now));
  add_template(cells, set);
}

void budget_cells(json::array& cells, const json::object& budget, WallTime now) {
  cells.emplace_back(wire::name_of(budget));
  for (const std::string_view bound : {"minAvailable", "maxUnavailable"}) {
    const json::value* value = wire::dig(budget, {"spec", bound});
    cells.emplace_back(value == nullptr ? "N/A" : wire::int_or_string(*value));
  }
  cells.emplace_back(wire::dig_int(budget, {"status", "disruptionsAllowed"}));
  cells.emplace_back(object_age(budget, now));
}

void lease_cells(json::array& cells, const json::object& lease, WallTime now) {
  cells.emplace_back(wire::name_of(lease));
  cells.emplace_back(wire::dig_text(lease, {"spec", "holderIdentity"}));
  cells.emplace_back(object_age(lease, now));
}

void namespace_cells(json::array& cells, const json::object& space, WallTime now) {
  cells.emplace_back(wire::name_of(space));
  cells.emplace_back(wire::dig_text(space, {"status", "phase"}));
  cells.emplace_back(object_age(space, now));
}

std::string format_requirement(const json::object& requirement) {
  const std::string key(wire::dig_text(requirement, {"key"}));
  const std::string_view op = wire::dig_text(requirement, {"operator"});
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::vector<std::string> values;
  for (const json::value& value : wire::dig_list(requirement, {"values"})) {
    values.emplace_back(wire::as_text(value));
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

void template_cells(json::array& cells, const json::object& workload) {
  cells.emplace_back(template_part(workload, "name"));
  cells.emplace_back(template_part(workload, "image"));
}

std::string format_labels(const json::object& labels) {
  std::vector<std::string> parts;
  for (const auto& label : labels) {
    parts.push_back(std::string(label.key()) + "=" + std::string(wire::as_text(label.value())));
  }
  if (parts.empty()) return "<none>";
  std::sort(parts.begin(), parts.end());
  return join(parts, ",");
}

std::string format_selector(const json::object& selector) {
  std::multimap<std::string_view, std::string> by_key;
  for (const auto& label : wire::dig_object(selector, {"matchLabels"})) {
    std::string text(label.key());
    by_key.emplace(label.key(), text.append("=").append(wire::as_text(label.value())));
  }
  for (const json::value& requirement : wire::dig_list(selector, {"matchExpressions"})) {
    const json::object& one = wire::as_object(requirement);
    by_key.emplace(wire::dig_text(one, {"key"}), format_requirement(one));
  }
  if (by_key.empty()) return "<none>";
  std::vector<std::string> parts;
  for (auto& [key, text] : by_key) parts.push_back(std::move(text));
  return join(parts, ",");
}

std::string object_age(const json::object& object, WallTime now) {
  return age_of(wire::dig(object, {"metadata", "creationTimestamp"}), now);
}

std::string_view text_or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace holdfast::sync::printing
