#include "sync/schedule/extender_filter.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "sync/schedule/names.h"
#include "sync/schedule/preemption/extender_wire.h"
#include "sync/wire/codec.h"
#include "sync/wire/json.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::schedule {
namespace {

// An extender's scores range to 10, a plugin's to 100.
constexpr std::int64_t extender_score_max = 10;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(Errc::invalid, "extender's answer: " + what);
}

Result<json::object> read_answer(std::string_view body) {
  auto value = wire::parse_json(body, wire::trusted_json);
  if (!value) return wrong(value.error().what);
  if (!value->is_object()) return wrong("expected an object");
  json::object object = std::move(value->get_object());
  const json::value* said = extender_field(object, "Error");
  if (said == nullptr) return object;
  if (!said->is_string()) return wrong("Error: expected a string");
  if (!said->get_string().empty()) return fail(Errc::invalid, std::string(said->get_string()));
  return object;
}

Status read_reasons(const json::object& object, std::string_view name,
                    std::map<std::string, std::string>& out) {
  const json::value* map = extender_field(object, name);
  if (map == nullptr) return {};
  const std::string where(name);
  if (!map->is_object()) return wrong(where + ": expected an object");
  for (const auto& entry : map->get_object()) {
    const std::string node(entry.key());
    if (!entry.value().is_string()) return wrong(where + "[" + node + "]: expected a string");
    out.emplace(node, entry.value().get_string());
  }
  return {};
}

Status read_names(const json::value& list, std::vector<std::string>& out) {
  if (!list.is_array()) return wrong("NodeNames: expected an array");
  for (const json::value& name : list.get_array()) {
    if (!name.is_string()) {
      return wrong("NodeNames[" + std::to_string(out.size()) + "]: expected a string");
    }
    out.emplace_back(name.get_string());
  }
  return {};
}

Status read_nodes(const json::value& list, std::vector<std::string>& out) {
  const json::object* object = list.if_object();
  const json::value* items = object == nullptr ? nullptr : extender_field(*object, "items");
  if (items == nullptr) return object == nullptr ? wrong("Nodes: expected an object") : Status();
  if (!items->is_array()) return wrong("Nodes.items: expected an array");
  for (const json::value& item : items->get_array()) {
    const json::object* node = item.if_object();
    const json::value* metadata = node == nullptr ? nullptr : extender_field(*node, "metadata");
    const json::value* name = metadata == nullptr || !metadata->is_object()
                                  ? nullptr
                                  : extender_field(metadata->get_object(), "name");
    if (name == nullptr || !name->is_string()) {
      return wrong("Nodes.items[" + std::to_string(out.size()) +
                   "].metadata.name: expected a string");
    }
    out.emplace_back(name->get_string());
  }
  return {};
}

bool contains(const Nodes& nodes, const std::string& name) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&name](const NodeView* node) { return node->name() == name; });
}

std::string unknown_node(const ExtenderSettings& extender, const std::string& node) {
  return "extender " + wire::quoted(extender.url) + " claims a filtered node " +
         wire::quoted(node) + " which is not found in the input node list";
}

}  // namespace

std::string filter_request(const ExtenderSettings& extender, const Pod& pod, const Nodes& nodes) {
  json::object body;
  body["Pod"] = wire::encode(pod);
  body["Nodes"] = nullptr;
  body["NodeNames"] = nullptr;
  json::array list;
  for (const NodeView* node : nodes) {
    if (extender.node_cache_capable) {
      list.emplace_back(node->name());
    } else {
      list.push_back(wire::encode(*node->node));
    }
  }
  if (extender.node_cache_capable) {
    body["NodeNames"] = std::move(list);
  } else {
    body["Nodes"] = json::object{{"metadata", json::object()}, {"items", std::move(list)}};
  }
  return wire::serialize(body);
}

Result<FilterAnswer> read_filter_answer(const ExtenderSettings& extender, std::string_view body) {
  TRY(const json::object object, read_answer(body));
  FilterAnswer answer;
  const json::value* names = extender_field(object, "NodeNames");
  const json::value* nodes = extender_field(object, "Nodes");
  Status read;
  if (extender.node_cache_capable && names != nullptr) {
    read = read_names(*names, answer.nodes);
  } else if (nodes != nullptr) {
    read = read_nodes(*nodes, answer.nodes);
  }
  if (read) read = read_reasons(object, "FailedNodes", answer.failed);
  if (read) read = read_reasons(object, "FailedAndUnresolvableNodes", answer.unresolvable);
  if (!read) return fail(read.error());
  return answer;
}

Status remove_rejected_nodes(const ExtenderSettings& extender, const FilterAnswer& answer,
                             FeasibleNodes& feasible_nodes) {
  for (const std::string& name : answer.nodes) {
    if (!contains(feasible_nodes.feasible, name))
      return fail(Errc::invalid, unknown_node(extender, name));
  }
  for (const auto* reasons : {&answer.failed, &answer.unresolvable}) {
    for (const auto& [name, why] : *reasons) {
      if (!contains(feasible_nodes.feasible, name)) {
        return fail(Errc::invalid, unknown_node(extender, name));
      }
    }
  }
  Nodes left;
  for (const NodeView* node : feasible_nodes.feasible) {
    const std::string& name = node->name();
    const auto never = answer.unresolvable.find(name);
    const auto now = answer.failed.find(name);
    const bool passes =
        std::find(answer.nodes.begin(), answer.nodes.end(), name) != answer.nodes.end();
    if (passes) {
      left.push_back(node);
    } else if (never != answer.unresolvable.end()) {
      feasible_nodes.diagnosis.fit_statuses.set(node->position,
                                                reject(Code::unresolvable, never->second));
    } else if (now != answer.failed.end()) {
      feasible_nodes.diagnosis.fit_statuses.set(node->position,
                                                reject(Code::unschedulable, now->second));
    }
  }
  if (left.size() != feasible_nodes.feasible.size()) {
    feasible_nodes.diagnosis.unschedulable_plugins.emplace(plugin_extender);
  }
  feasible_nodes.feasible = std::move(left);
  return {};
}

Result<HostScores> read_prioritize_answer(std::string_view body) {
  auto value = wire::parse_json(body, wire::trusted_json);
  if (!value) return wrong(value.error().what);
  if (!value->is_array()) return wrong("expected an array");
  HostScores scores;
  std::size_t at = 0;
  for (const json::value& item : value->get_array()) {
    const std::string where = "[" + std::to_string(at++) + "]";
    const json::object* object = item.if_object();
    const json::value* host = object == nullptr ? nullptr : extender_field(*object, "Host");
    const json::value* score = object == nullptr ? nullptr : extender_field(*object, "Score");
    if (host == nullptr || !host->is_string()) return wrong(where + ".Host: expected a string");
    const bool good = score != nullptr && score->is_int64() && score->get_int64() >= 0 &&
                      score->get_int64() <= extender_score_max;
    if (!good) return wrong(where + ".Score: expected a number from 0 to 10");
    scores.insert_or_assign(std::string(host->get_string()), score->get_int64());
  }
  return scores;
}

void add_scores(const HostScores& answer, std::int64_t weight, const Nodes& nodes, Scores& scores) {
  scores.resize(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto at = answer.find(nodes[i]->name());
    if (at != answer.end()) scores[i] += at->second * weight * (score_max / extender_score_max);
  }
}

std::string bind_request(const PodView& pod, std::string_view node) {
  json::object body;
  body["PodName"] = pod.name();
  body["PodNamespace"] = pod.namespace_name();
  body["PodUID"] = pod.uid();
  body["Node"] = node;
  return wire::serialize(body);
}

Status read_bind_answer(std::string_view body) {
  const auto object = read_answer(body);
  if (!object) return fail(object.error());
  return {};
}

}  // namespace holdfast::sync::schedule
