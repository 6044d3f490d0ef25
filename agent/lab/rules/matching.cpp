#include "agent/lab/rules/matching.h"

#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

bool contains(const json::array& values, std::string_view text) {
  for (const json::value& value : values) {
    if (sync::wire::as_text(value) == text) return true;
  }
  return false;
}

bool compares(const json::array& values, std::string_view text, bool greater) {
  if (values.size() != 1) return false;
  const auto left = parse_int<std::int64_t>(text);
  const auto right = parse_int<std::int64_t>(sync::wire::as_text(values[0]));
  if (!left || !right) return false;
  return greater ? *left > *right : *left < *right;
}

// Whether the value under its key, if there is one, meets one requirement of a label or node
// selector.
bool fits(const json::object& requirement, const json::value* found) {
  const std::string_view op = sync::wire::dig_text(requirement, {"operator"});
  const json::array& values = sync::wire::dig_list(requirement, {"values"});
  if (op == "Exists") return found != nullptr;
  if (op == "DoesNotExist") return found == nullptr;
  if (op == "NotIn") return found == nullptr || !contains(values, sync::wire::as_text(*found));
  if (found == nullptr) return false;
  if (op == "In") return contains(values, sync::wire::as_text(*found));
  if (op == "Gt") return compares(values, sync::wire::as_text(*found), true);
  if (op == "Lt") return compares(values, sync::wire::as_text(*found), false);
  return false;
}

bool fits_all(const json::array& requirements, const json::object& labels) {
  for (const json::value& item : requirements) {
    const json::object& requirement = sync::wire::as_object(item);
    if (!fits(requirement, labels.if_contains(sync::wire::dig_text(requirement, {"key"}))))
      return false;
  }
  return true;
}

bool has_all(const json::object& wanted, const json::object& labels) {
  for (const auto& label : wanted) {
    const json::value* found = labels.if_contains(label.key());
    if (found == nullptr || *found != label.value()) return false;
  }
  return true;
}

bool tolerates(const json::object& toleration, const json::object& taint) {
  const std::string_view effect = sync::wire::dig_text(toleration, {"effect"});
  if (!effect.empty() && effect != sync::wire::dig_text(taint, {"effect"})) return false;
  const std::string_view key = sync::wire::dig_text(toleration, {"key"});
  if (!key.empty() && key != sync::wire::dig_text(taint, {"key"})) return false;
  if (sync::wire::dig_text(toleration, {"operator"}) == "Exists") return true;
  return !key.empty() &&
         sync::wire::dig_text(toleration, {"value"}) == sync::wire::dig_text(taint, {"value"});
}

}  // namespace

bool selects(const json::object& selector, const json::object& labels) {
  return has_all(sync::wire::dig_object(selector, {"matchLabels"}), labels) &&
         fits_all(sync::wire::dig_list(selector, {"matchExpressions"}), labels);
}

bool selects_object(const json::object& selector, const json::object& object) {
  return selects(selector, sync::wire::dig_object(object, {"metadata", "labels"}));
}

bool wants_node(const json::object& pod, const json::object& node) {
  const json::object& labels = sync::wire::dig_object(node, {"metadata", "labels"});
  if (!has_all(sync::wire::dig_object(pod, {"spec", "nodeSelector"}), labels)) return false;
  const json::object& affinity = sync::wire::dig_object(pod, {"spec", "affinity", "nodeAffinity"});
  const json::value* required =
      sync::wire::dig(affinity, {"requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr) return true;
  const json::object fields = {{"metadata.name", sync::wire::name_of(node)}};
  for (const json::value& item :
       sync::wire::dig_list(sync::wire::as_object(*required), {"nodeSelectorTerms"})) {
    const json::object& term = sync::wire::as_object(item);
    const json::array& by_label = sync::wire::dig_list(term, {"matchExpressions"});
    const json::array& by_field = sync::wire::dig_list(term, {"matchFields"});
    if (by_label.empty() && by_field.empty()) continue;  // An empty term matches nothing.
    if (fits_all(by_label, labels) && fits_all(by_field, fields)) return true;
  }
  return false;
}

const json::object* untolerated_taint(const json::object& pod, const json::object& node) {
  for (const json::value& item : sync::wire::dig_list(node, {"spec", "taints"})) {
    const json::object& taint = sync::wire::as_object(item);
    const std::string_view effect = sync::wire::dig_text(taint, {"effect"});
    if (effect != "NoSchedule" && effect != "NoExecute") continue;
    bool tolerated = false;
    for (const json::value& toleration : sync::wire::dig_list(pod, {"spec", "tolerations"})) {
      tolerated = tolerated || tolerates(sync::wire::as_object(toleration), taint);
    }
    if (!tolerated) return &taint;
  }
  return nullptr;
}

std::string_view condition_status(const json::object& object, std::string_view type) {
  for (const json::value& item : sync::wire::dig_list(object, {"status", "conditions"})) {
    if (sync::wire::dig_text(sync::wire::as_object(item), {"type"}) == type)
      return sync::wire::dig_text(sync::wire::as_object(item), {"status"});
  }
  return {};
}

bool is_finished(const json::object& pod) {
  const std::string_view phase = sync::wire::dig_text(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_ready(const json::object& pod) { return condition_status(pod, "Ready") == "True"; }

bool is_active(const json::object& pod) {
  return !is_finished(pod) && !sync::wire::is_terminating(pod);
}

bool is_controlled_by(const json::object& object, std::string_view uid) {
  return sync::wire::dig_text(sync::wire::controller_of(object), {"uid"}) == uid;
}

std::int64_t scaled(const json::value* value, std::int64_t total, bool round_up) {
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  std::string_view text = sync::wire::as_text(*value);
  if (text.ends_with('%')) text.remove_suffix(1);
  const std::int64_t percent = parse_int<std::int64_t>(text).value_or(0);
  return (percent * total + (round_up ? 99 : 0)) / 100;
}

void set_condition(json::object& status, const json::object& condition, std::string_view now) {
  json::value& slot = status["conditions"];
  if (!slot.is_array()) slot.emplace_array();
  for (json::value& item : slot.get_array()) {
    const json::object& old = sync::wire::as_object(item);
    if (sync::wire::dig_text(old, {"type"}) != sync::wire::dig_text(condition, {"type"})) continue;
    const bool same =
        sync::wire::dig_text(old, {"status"}) == sync::wire::dig_text(condition, {"status"});
    const std::string since(same ? sync::wire::dig_text(old, {"lastTransitionTime"}) : now);
    item = condition;
    item.get_object()["lastTransitionTime"] = since;
    return;
  }
  json::object fresh = condition;
  fresh["lastTransitionTime"] = now;
  slot.get_array().push_back(std::move(fresh));
}

}  // namespace holdfast::agent::lab
