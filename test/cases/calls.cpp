#include "test/cases/calls.h"

#include <algorithm>
#include <utility>

#include "sync/lifecycle/facts.h"
#include "sync/lifecycle/node_health.h"
#include "sync/lifecycle/pod_binding.h"
#include "sync/lifecycle/zone.h"
#include "sync/objects/names.h"
#include "sync/objects/toleration.h"
#include "sync/wire/codec.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;

namespace {

// The codec decodes only whole objects, so the taints are put into a node.
Result<std::vector<sync::Taint>> read_taints(const json::value& taints) {
  const json::object object{{"metadata", {{"name", "n"}}}, {"spec", {{"taints", taints}}}};
  TRY(sync::Node node, sync::wire::decode<sync::Node>(object));
  return std::move(node.spec.taints);
}

Result<std::vector<sync::Toleration>> read_tolerations(const json::value& tolerations) {
  const json::object object{{"metadata", {{"name", "p"}}},
                            {"spec", {{"tolerations", tolerations}}}};
  TRY(sync::Pod pod, sync::wire::decode<sync::Pod>(object));
  return std::move(pod.spec.tolerations);
}

json::value write_tolerations(const std::vector<sync::Toleration>& tolerations) {
  sync::PodSpec spec;
  spec.tolerations = tolerations;
  const json::object object = sync::wire::encode_part(spec);
  const json::value* found = find(object, "tolerations");
  return found == nullptr ? json::value(json::array()) : *found;
}

json::value write_status(lifecycle::Truth status) {
  switch (status) {
    case lifecycle::Truth::absent:
      return nullptr;
    case lifecycle::Truth::yes:
      return "True";
    case lifecycle::Truth::no:
      return "False";
    case lifecycle::Truth::unknown:
      return "Unknown";
    case lifecycle::Truth::other:
      return "?";
  }
  return nullptr;
}

// The hash by which upstream assigns nodes to its workers: FNV-1a with 32 bits.
std::uint32_t shard_of(std::string_view value, std::uint32_t shards) {
  std::uint32_t hash = 2166136261U;
  for (const char c : value) {
    hash ^= static_cast<std::uint32_t>(static_cast<unsigned char>(c));
    hash *= 16777619U;
  }
  return hash % shards;
}

// An error of the decoder, as an error of the argument that it decoded.
template <class T>
T read(const json::value& arg, Result<T> decoded) {
  if (!decoded) throw Malformed(arg, decoded.error().what);
  return *std::move(decoded);
}

template <class T>
T object_arg(const json::object& args, std::string_view name) {
  const json::value& arg = needs(args, name);
  return read(arg, sync::wire::decode<T>(arg));
}

const json::value& array_arg(const json::object& args, std::string_view name) {
  const json::value& arg = needs(args, name);
  (void)array_of(arg);
  return arg;
}

std::vector<sync::Taint> taints_arg(const json::object& args) {
  const json::value& arg = array_arg(args, "taints");
  return read(arg, read_taints(arg));
}

std::vector<sync::Toleration> tolerations_arg(const json::object& args, std::string_view name) {
  const json::value& arg = array_arg(args, name);
  return read(arg, read_tolerations(arg));
}

lifecycle::ZoneState state_of(const json::value& value) {
  using lifecycle::ZoneState;
  for (const ZoneState state : {ZoneState::initial, ZoneState::normal,
                                ZoneState::partial_disruption, ZoneState::full_disruption}) {
    if (to_string(state) == text_of(value)) return state;
  }
  throw Malformed(value, "unknown zone state " + excerpt(value));
}

}  // namespace

json::value Calls::call(MonoTime now, const json::object& call) {
  const std::string fn = needs_text(call, "fn");
  const json::object& args = object_in(call, "args");
  if (fn.starts_with("queue.")) return queue_call(now, call);
  if (fn.starts_with("timed.")) return timed_call(now, call);
  if (fn == "tryUpdateNodeHealth") return health_call(now, args);
  if (fn == "podBindingTolerations") return binding_call(args);
  if (fn == "zoneKey" || fn == "computeZoneState" || fn == "limiterForZone" ||
      fn == "excludedFromDisruption") {
    return zone_call(fn, args);
  }
  return toleration_call(fn, call);
}

json::value Calls::zone_call(const std::string& fn, const json::object& args) {
  if (fn == "computeZoneState") {
    lifecycle::ZoneCount count;
    for (const json::value& status : array_of(needs(args, "readyStatuses"))) {
      ++(status == json::value("True") ? count.ready : count.unready);
    }
    const std::string state(to_string(lifecycle::zone_state(count, options_)));
    return json::object{{"unhealthy", count.unready}, {"state", state}};
  }
  if (fn == "limiterForZone") {
    const auto size = static_cast<std::size_t>(integer_of(needs(args, "zoneSize"), {}));
    const double rate = lifecycle::eviction_rate(state_of(needs(args, "state")), size, options_);
    return json::object{{"qps", rate}};
  }
  const auto node = object_arg<sync::Node>(args, "node");
  if (fn == "zoneKey") return json::value(lifecycle::zone_key(node.metadata.labels));
  return json::value(
      lifecycle::excluded_from_disruption(node.metadata.name, node.metadata.labels, options_));
}

json::value Calls::toleration_call(const std::string& fn, const json::object& call) {
  const json::object& args = object_in(call, "args");
  if (fn == "shard") {
    const std::int64_t shards = integer_of(needs(args, "shards"), {1, 1'000'000});
    return json::value(shard_of(text_of(needs(args, "value")), static_cast<std::uint32_t>(shards)));
  }
  if (fn == "toleratesTaint") {
    const json::value& taint = needs(args, "taint");
    const json::value& toleration = needs(args, "toleration");
    const auto taints = read(taint, read_taints(json::array{taint}));
    const auto tolerations = read(toleration, read_tolerations(json::array{toleration}));
    return json::value(sync::objects::tolerates(tolerations.front(), taints.front(),
                                                options_.comparison_tolerations));
  }
  if (fn == "matchingTolerations") {
    const auto taints = taints_arg(args);
    const auto tolerations = tolerations_arg(args, "tolerations");
    const auto used =
        sync::objects::matching_tolerations(taints, tolerations, options_.comparison_tolerations);
    const json::value list = used ? write_tolerations(*used) : json::value(json::array());
    return json::object{{"allTolerated", used.has_value()}, {"used", list}};
  }
  if (fn == "minTolerationSeconds") {
    const auto shortest = sync::objects::shortest_toleration(tolerations_arg(args, "used"));
    if (!shortest) return json::value("forever");
    return json::value(std::chrono::duration_cast<std::chrono::seconds>(*shortest).count());
  }
  if (fn == "noExecuteTaints") {
    const auto taints = taints_arg(args);
    return sync::wire::encode_taints(sync::objects::no_execute_taints(taints));
  }
  throw Malformed(needs(call, "fn"), "unknown function " + fn);
}

json::value Calls::health_call(MonoTime now, const json::object& args) {
  const auto node = object_arg<sync::Node>(args, "node");
  const json::object& saved = needs_object(args, "savedHealth");
  const json::object before{{"metadata", {{"name", node.metadata.name}}},
                            {"status", object_in(saved, "status")}};
  const auto old = read(needs(args, "savedHealth"), sync::wire::decode<sync::Node>(before));
  const WallTime probe = time_in(saved, "probeTimestamp");
  const WallTime transition = time_in(saved, "readyTransitionTimestamp");

  const lifecycle::NodeFacts facts = lifecycle::facts_of(node, options_);
  lifecycle::HealthRecord record{MonoTime(probe - epoch_),
                                 MonoTime(transition - epoch_),
                                 lifecycle::facts_of(old, options_).ready(),
                                 {}};
  lifecycle::observe(record, now, facts.ready());
  const WallTime wall = epoch_ + now.time_since_epoch();
  const auto assessment = lifecycle::assess(now, wall, facts, record, options_);
  if (!assessment.changes.empty()) lifecycle::wrote(record, now, assessment.current);
  return json::object{{"observed", write_status(assessment.observed.status)},
                      {"current", write_status(assessment.current.status)},
                      {"saved", write_status(record.ready.status)}};
}

json::value Calls::binding_call(const json::object& args) {
  const auto node = object_arg<sync::Node>(args, "node");
  const auto pod = object_arg<sync::Pod>(args, "pod");
  const lifecycle::PodBinding binding = lifecycle::bind_pod(node, pod);
  json::object annotations;
  for (const auto& [name, value] : binding.annotations) annotations[name] = value;
  return json::object{{"changed", binding.changed},
                      {"tolerations", write_tolerations(binding.tolerations)},
                      {"annotations", annotations}};
}

}  // namespace holdfast::cases
