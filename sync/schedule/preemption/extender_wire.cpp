#include "sync/schedule/preemption/extender_wire.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "platform/text.h"
#include "sync/wire/codec.h"
#include "sync/wire/json.h"

namespace holdfast::sync::schedule {
namespace {

json::value victims_of(const ExtenderSettings& extender, const Candidate& candidate) {
  json::array pods;
  for (const PodRef& victim : candidate.victims) {
    if (extender.node_cache_capable) {
      json::object meta;
      meta["UID"] = victim->uid();
      pods.push_back(std::move(meta));
    } else {
      pods.push_back(wire::encode(*victim->pod));
    }
  }
  json::object out;
  out["Pods"] = std::move(pods);
  out["NumPDBViolations"] = candidate.violations;
  return out;
}

std::string_view key_of(const json::key_value_pair& entry) {
  return {entry.key().data(), entry.key().size()};
}

Result<std::vector<std::string>> read_uids(const json::value& list) {
  const json::array* pods = list.if_array();
  if (pods == nullptr) return fail(Errc::invalid, "Pods: expected an array");
  std::vector<std::string> uids;
  for (const json::value& pod : *pods) {
    const json::object* object = pod.if_object();
    const json::value* uid = object == nullptr ? nullptr : extender_field(*object, "UID");
    if (uid == nullptr || !uid->is_string()) {
      return fail(Errc::invalid,
                  "Pods[" + std::to_string(uids.size()) + "].UID: expected a string");
    }
    uids.emplace_back(uid->get_string());
  }
  return uids;
}

Result<MetaVictims> read_victims(const json::value& value) {
  MetaVictims out;
  if (value.is_null()) return out;
  const json::object* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid, "expected an object");
  if (const json::value* pods = extender_field(*object, "Pods")) {
    TRY(out.uids, read_uids(*pods));
  }
  if (const json::value* violations = extender_field(*object, "NumPDBViolations")) {
    if (!violations->is_int64()) return fail(Errc::invalid, "NumPDBViolations: expected a number");
    out.violations = violations->get_int64();
  }
  return out;
}

}  // namespace

const json::value* extender_field(const json::object& object, std::string_view name) {
  for (const auto& each : object) {
    if (equals_ignoring_case({each.key().data(), each.key().size()}, name)) {
      return each.value().is_null() ? nullptr : &each.value();
    }
  }
  return nullptr;
}

std::string preempt_request(const ExtenderSettings& extender, const Pod& pod,
                            const std::vector<Candidate>& candidates) {
  json::object nodes;
  for (const Candidate& each : candidates) nodes[each.node] = victims_of(extender, each);
  json::object body;
  body["Pod"] = wire::encode(pod);
  body["NodeNameToVictims"] = nullptr;
  body["NodeNameToMetaVictims"] = nullptr;
  const char* used = extender.node_cache_capable ? "NodeNameToMetaVictims" : "NodeNameToVictims";
  body[used] = std::move(nodes);
  return wire::serialize(body);
}

Result<ExtenderAnswer> read_preempt_answer(std::string_view body) {
  TRY(const json::value value, wire::parse_json(body, wire::trusted_json));
  const json::object* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid, "extender's answer: expected an object");
  ExtenderAnswer answer;
  const json::value* nodes = extender_field(*object, "NodeNameToMetaVictims");
  if (nodes == nullptr) return answer;
  if (!nodes->is_object()) {
    return fail(Errc::invalid, "extender's answer: NodeNameToMetaVictims: expected an object");
  }
  for (const auto& entry : nodes->get_object()) {
    auto victims = read_victims(entry.value());
    const std::string node(key_of(entry));
    if (!victims) {
      return fail("extender's answer: NodeNameToMetaVictims[" + node + "]", victims.error());
    }
    answer.emplace(node, std::move(*victims));
  }
  return answer;
}

std::string extender_url(std::string_view prefix, std::string_view verb) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return std::string(prefix) + "/" + std::string(verb);
}

}  // namespace holdfast::sync::schedule
