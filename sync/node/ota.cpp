#include "sync/node/ota.h"

#include "sync/node/static_pod.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::sync::node {
namespace {

constexpr std::string_view need_upgrade = "PodNeedUpgrade";
constexpr std::string_view image_ready = "PodImageReady";
constexpr std::string_view version_prefix = "controllerrevision: ";

const json::object& condition(const json::object& pod, std::string_view type) {
  static const json::object none;
  for (const json::value& each : wire::dig_list(pod, {"status", "conditions"})) {
    if (wire::dig_text(wire::as_object(each), {"type"}) == type) return wire::as_object(each);
  }
  return none;
}

// The pod version in a condition's message.
std::string_view version_in(const json::object& condition) {
  std::string_view text = wire::dig_text(condition, {"message"});
  if (text.starts_with(version_prefix)) text.remove_prefix(version_prefix.size());
  return text;
}

std::string text_of(const json::object& pod) {
  return std::string(wire::namespace_of(pod)) + "/" + std::string(wire::name_of(pod));
}

// Why the pod must not be upgraded; "" if it may be.
std::string refusal(const json::object& pod, std::string_view node_name) {
  const std::string_view node = wire::dig_text(pod, {"spec", "nodeName"});
  if (wire::is_terminating(pod)) return "it is being deleted";
  if (node != node_name) return "it runs on \"" + std::string(node) + "\"";
  if (wire::dig_text(condition(pod, need_upgrade), {"status"}) != "True") {
    return "its condition PodNeedUpgrade is not True";
  }
  return {};
}

// Why the images of the new version are not ready; "" if they are. A pod without the condition
// needs no earlier pull.
std::string image_refusal(const json::object& pod) {
  const json::object& ready = condition(pod, image_ready);
  if (ready.empty()) return {};
  const bool pulled = wire::dig_text(ready, {"status"}) == "True" &&
                      version_in(ready) == version_in(condition(pod, need_upgrade));
  if (pulled) return {};
  std::string why = "its images are not ready: ";
  why.append(wire::dig_text(ready, {"reason"}))
      .append(" ")
      .append(wire::dig_text(ready, {"message"}));
  return why;
}

// The kind of the pod's owner; for a static pod's mirror it is Node.
std::string_view owner_kind(const json::object& pod) {
  const json::object& controller = wire::controller_of(pod);
  if (!controller.empty()) return wire::dig_text(controller, {"kind"});
  const json::array& owners = wire::dig_list(pod, {"metadata", "ownerReferences"});
  return owners.empty() ? std::string_view()
                        : wire::dig_text(wire::as_object(owners.front()), {"kind"});
}

std::string delete_options(const json::object& pod) {
  return wire::serialize(json::object{{"kind", "DeleteOptions"},
                                      {"apiVersion", "v1"},
                                      {"preconditions", json::object{{"uid", wire::uid_of(pod)}}}});
}

std::string pull_patch(const json::object& pod, WallTime now) {
  std::string message(version_prefix);
  message += version_in(condition(pod, need_upgrade));
  json::object wanted{
      {"type", image_ready}, {"status", "False"}, {"message", message}, {"reason", nullptr}};
  const bool was_false = wire::dig_text(condition(pod, image_ready), {"status"}) == "False";
  if (!was_false) wanted["lastTransitionTime"] = format_rfc3339(now);
  return wire::serialize(
      json::object{{"metadata", json::object{{"uid", wire::uid_of(pod)}}},
                   {"status", json::object{{"conditions", json::array{std::move(wanted)}}}}});
}

OtaDecision decide_static_upgrade(const json::object& pod, std::string_view node_name) {
  const std::string name = text_of(pod);
  const auto static_name = static_pod_name(wire::name_of(pod), node_name);
  if (!static_name) {
    return {400, "pod " + name + " can't be upgraded: no static pod of this node has that name"};
  }
  return {.message = "Start updating pod " + name,
          .config_map = static_pod_config_map(*static_name),
          .static_name = *static_name};
}

OtaDecision decide_upgrade(const json::object& pod, std::string_view node_name) {
  const std::string name = text_of(pod);
  if (const std::string why = image_refusal(pod); !why.empty()) {
    return {403, "pod " + name + " can't be upgraded: " + why};
  }
  const std::string_view kind = owner_kind(pod);
  if (kind == "DaemonSet") return {200, "Start updating pod " + name, delete_options(pod)};
  if (kind == "Node") return decide_static_upgrade(pod, node_name);
  std::string why = "pod " + name + " can't be upgraded: ";
  if (kind.empty()) {
    why += "it has no owner";
  } else {
    why.append("only pods of DaemonSets and static pods can be, and its owner is a ").append(kind);
  }
  return {400, why};
}

}  // namespace

std::optional<OtaAction> parse_ota_action(std::string_view text) {
  if (text == "upgrade") return OtaAction::upgrade;
  if (text == "imagepull") return OtaAction::image_pull;
  return std::nullopt;
}

Result<OtaDecision> decide_ota(OtaAction action, std::string_view pod, std::string_view node_name,
                               WallTime now) {
  TRY(const json::value parsed, wire::parse_json(pod));
  if (!parsed.is_object() || wire::uid_of(parsed.get_object()).empty()) {
    return fail(Errc::invalid, "not a pod");
  }
  const json::object& object = parsed.get_object();
  const std::string name = text_of(object);
  if (const std::string why = refusal(object, node_name); !why.empty()) {
    return OtaDecision{403, "pod " + name + " can't be upgraded: " + why};
  }
  if (action == OtaAction::upgrade) return decide_upgrade(object, node_name);
  return OtaDecision{200, "Image pre-pull requested for pod " + name, pull_patch(object, now)};
}

}  // namespace holdfast::sync::node
