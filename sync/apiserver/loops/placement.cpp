#include "sync/apiserver/loops/placement.h"

#include <boost/json.hpp>
#include <optional>

#include "platform/text.h"
#include "sync/apiserver/matching.h"
#include "sync/schema/read.h"

namespace holdfast::sync {
namespace {

namespace json = boost::json;

Quantity amount(std::string_view text) { return Quantity::parse(text).value_or(Quantity()); }

// What a pod asks for in all.
Occupancy::Use demand(const json::object& pod) {
  Occupancy::Use use{.pods = 1};
  for (const json::value& container : dig_list(pod, {"spec", "containers"})) {
    const json::object& asks = dig_object(as_object(container), {"resources", "requests"});
    use.cpu += amount(dig_text(asks, {"cpu"}));
    use.memory += amount(dig_text(asks, {"memory"}));
  }
  return use;
}

bool lacks(const json::object& room, std::string_view what, Quantity used, const Quantity& more) {
  used += more;
  return !more.zero() && used > amount(dig_text(room, {what}));
}

// Why the pod does not fit on the node, or nothing.
std::optional<std::string> misfit(const json::object& pod, const json::object& node,
                                  const Occupancy::Use& used) {
  if (dig_bool(node, {"spec", "unschedulable"})) {
    const json::object cordon = {{"key", "node.kubernetes.io/unschedulable"},
                                 {"effect", "NoSchedule"}};
    const json::object tainted = {{"spec", json::object{{"taints", json::array({cordon})}}}};
    if (untolerated_taint(pod, tainted) != nullptr) return "node(s) were unschedulable";
  }
  if (const json::object* taint = untolerated_taint(pod, node)) {
    return "node(s) had untolerated taint {" + std::string(dig_text(*taint, {"key"})) + ": " +
           std::string(dig_text(*taint, {"value"})) + "}";
  }
  if (condition_status(node, "Ready") != "True") return "node(s) were not ready";
  if (!wants_node(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  const json::object& room = dig_object(node, {"status", "allocatable"});
  if (room.empty()) return std::nullopt;  // It has not said; the lab does not insist.
  const Occupancy::Use more = demand(pod);
  const bool counts = room.contains("pods");
  if (counts && Quantity::units(used.pods + 1) > amount(dig_text(room, {"pods"}))) {
    return "Too many pods";
  }
  if (lacks(room, "cpu", used.cpu, more.cpu)) return "Insufficient cpu";
  if (lacks(room, "memory", used.memory, more.memory)) return "Insufficient memory";
  return std::nullopt;
}

}  // namespace

Occupancy::Occupancy(const Objects& pods) {
  for (const json::object* pod : pods) {
    const std::string_view node = dig_text(*pod, {"spec", "nodeName"});
    if (!node.empty() && !is_finished(*pod)) add(node, *pod);
  }
}

void Occupancy::add(std::string_view node, const json::object& pod) {
  const Use more = demand(pod);
  Use& use = uses_[std::string(node)];
  use.pods += more.pods;
  use.cpu += more.cpu;
  use.memory += more.memory;
}

Occupancy::Use Occupancy::on(std::string_view node) const {
  const auto found = uses_.find(node);
  return found == uses_.end() ? Use{} : found->second;
}

Placement place(const json::object& pod, const Objects& nodes, const Occupancy& occupancy) {
  Placement best;
  std::int64_t fewest = 0;
  std::map<std::string, int> reasons;
  for (const json::object* node : nodes) {
    const Occupancy::Use used = occupancy.on(name_of(*node));
    if (const auto why = misfit(pod, *node, used)) {
      ++reasons[*why];
      continue;
    }
    if (best.node.empty() || used.pods < fewest) {
      best.node = name_of(*node);
      fewest = used.pods;
    }
  }
  if (!best.node.empty()) return best;
  std::vector<std::string> parts;
  for (const auto& [why, count] : reasons) parts.push_back(std::to_string(count) + " " + why);
  best.why = "0/" + std::to_string(nodes.size()) + " nodes are available";
  best.why += parts.empty() ? "." : ": " + join(parts, ", ") + ".";
  return best;
}

bool waits_for_node(const json::object& pod) {
  return dig_text(pod, {"spec", "nodeName"}).empty() && is_active(pod) &&
         dig_text(pod, {"spec", "schedulerName"}) == "default-scheduler" &&
         dig_list(pod, {"spec", "schedulingGates"}).empty();
}

}  // namespace holdfast::sync
