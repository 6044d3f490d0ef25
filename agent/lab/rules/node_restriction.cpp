#include "agent/lab/rules/node_restriction.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <vector>

#include "agent/lab/rules/node_authorizer.h"
#include "sync/autonomy/registration.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

using Refusal = std::optional<std::string>;

constexpr std::string_view mirror_annotation = "kubernetes.io/config.mirror";

std::string of_node(std::string_view node) { return "node " + sync::wire::quoted(node); }

// The forbidden labels that differ between both objects, joined by commas; "" if none.
std::string forbidden_labels(const json::object& now, const json::object& before) {
  const json::object& left = sync::wire::dig_object(now, {"metadata", "labels"});
  const json::object& right = sync::wire::dig_object(before, {"metadata", "labels"});
  std::set<std::string_view> found;
  for (const auto* side : {&left, &right}) {
    for (const auto& entry : *side) {
      const json::value* one = left.if_contains(entry.key());
      const json::value* other = right.if_contains(entry.key());
      const bool same = one != nullptr && other != nullptr && *one == *other;
      if (!same && !sync::autonomy::may_label_own_node(entry.key())) found.insert(entry.key());
    }
  }
  std::string all;
  for (const std::string_view label : found) {
    if (!all.empty()) all += ", ";
    all += label;
  }
  return all;
}

Refusal restrict_own_node(std::string_view node, const NodeWrite& write) {
  const std::string_view name =
      write.name.empty() && write.now != nullptr ? sync::wire::name_of(*write.now) : write.name;
  if (name != node)
    return of_node(node) + " is not allowed to modify node " + sync::wire::quoted(name);
  if (write.now == nullptr) return std::nullopt;
  if (write.before == nullptr) {
    const std::string labels = forbidden_labels(*write.now, {});
    if (labels.empty()) return std::nullopt;
    return of_node(node) + " is not allowed to set the following labels: " + labels;
  }
  if (sync::wire::dig_list(*write.now, {"spec", "taints"}) !=
      sync::wire::dig_list(*write.before, {"spec", "taints"})) {
    return of_node(node) + " is not allowed to modify taints";
  }
  const std::string labels = forbidden_labels(*write.now, *write.before);
  if (labels.empty()) return std::nullopt;
  return "is not allowed to modify labels: " + labels;
}

Refusal restrict_mirror_owner(std::string_view node, const json::object& pod) {
  const json::array& owners = sync::wire::dig_list(pod, {"metadata", "ownerReferences"});
  const std::string start = of_node(node) + " can only create pods with ";
  if (owners.size() > 1) return start + "a single owner reference set to itself";
  const json::object& owner =
      owners.empty() ? json::object() : sync::wire::as_object(owners.front());
  if (sync::wire::dig_text(owner, {"apiVersion"}) != "v1" ||
      sync::wire::dig_text(owner, {"kind"}) != "Node" ||
      sync::wire::dig_text(owner, {"name"}) != node) {
    return start + "an owner reference set to itself";
  }
  if (!sync::wire::dig_bool(owner, {"controller"})) {
    return start + "a controller owner reference set to itself";
  }
  if (!sync::wire::dig_bool(owner, {"blockOwnerDeletion"})) return std::nullopt;
  return of_node(node) + " must not set blockOwnerDeletion on an owner reference";
}

// Refuses references that a mirror pod must not have.
Refusal restrict_mirror_content(std::string_view node, const json::object& pod) {
  const std::string start = of_node(node) + " can not create pods that reference ";
  if (!sync::wire::dig_text(pod, {"spec", "serviceAccountName"}).empty())
    return start + "a service account";
  for (const json::value& item : sync::wire::dig_list(pod, {"spec", "volumes"})) {
    const json::object& volume = sync::wire::as_object(item);
    if (sync::wire::dig(volume, {"secret"}) != nullptr) return start + "secrets";
    if (sync::wire::dig(volume, {"configMap"}) != nullptr) return start + "configmaps";
    if (sync::wire::dig(volume, {"persistentVolumeClaim"}) != nullptr)
      return start + "persistentvolumeclaims";
  }
  return std::nullopt;
}

Refusal restrict_pod(std::string_view node, const NodeWrite& write) {
  if (write.verb == "delete") {
    if (write.before == nullptr) return std::nullopt;  // The response will be 404.
    if (sync::wire::dig_text(*write.before, {"spec", "nodeName"}) == node) return std::nullopt;
    return of_node(node) + " can only delete pods with spec.nodeName set to itself";
  }
  if (write.verb != "create") {
    return "unexpected operation \"UPDATE\", " + of_node(node) +
           " can only create and delete mirror pods";
  }
  if (sync::wire::dig(*write.now, {"metadata", "annotations", mirror_annotation}) == nullptr) {
    return "pod does not have " + sync::wire::quoted(mirror_annotation) + " annotation, " +
           of_node(node) + " can only create mirror pods";
  }
  if (sync::wire::dig_text(*write.now, {"spec", "nodeName"}) != node) {
    return of_node(node) + " can only create pods with spec.nodeName set to itself";
  }
  if (auto owner = restrict_mirror_owner(node, *write.now)) return owner;
  return restrict_mirror_content(node, *write.now);
}

Refusal restrict_pod_status(std::string_view node, const NodeWrite& write) {
  if (write.before == nullptr) return std::nullopt;
  if (sync::wire::dig_text(*write.before, {"spec", "nodeName"}) != node) {
    return of_node(node) + " can only update pod status for pods with spec.nodeName set to itself";
  }
  const bool same = sync::wire::dig_object(*write.now, {"metadata", "labels"}) ==
                    sync::wire::dig_object(*write.before, {"metadata", "labels"});
  if (same) return std::nullopt;
  return of_node(node) + " cannot update labels through pod status";
}

Refusal restrict_token(std::string_view node, const NodeWrite& write) {
  const json::object& bound = sync::wire::dig_object(*write.now, {"spec", "boundObjectRef"});
  if (sync::wire::dig_text(bound, {"apiVersion"}) != "v1" ||
      sync::wire::dig_text(bound, {"kind"}) != "Pod" ||
      sync::wire::dig_text(bound, {"name"}).empty()) {
    return "node requested token not bound to a pod";
  }
  const std::string_view uid = sync::wire::dig_text(bound, {"uid"});
  if (uid.empty()) return "node requested token with a pod binding without a uid";
  if (write.pod == nullptr)
    return "pod " + sync::wire::quoted(sync::wire::dig_text(bound, {"name"})) + " not found";
  if (uid != sync::wire::uid_of(*write.pod)) {
    return "the UID in the bound object reference (" + std::string(uid) +
           ") does not match the UID in record. The object might have been deleted and then "
           "recreated";
  }
  if (sync::wire::dig_text(*write.pod, {"spec", "nodeName"}) == node) return std::nullopt;
  return "node requested token bound to a pod scheduled on a different node";
}

// Leases and CSINodes.
Refusal restrict_name(std::string_view node, const NodeWrite& write, const std::string& noun) {
  const std::string_view name =
      write.verb == "create" && write.now != nullptr ? sync::wire::name_of(*write.now) : write.name;
  if (name == node) return std::nullopt;
  return "can only access " + noun + " with the same name as the requesting node";
}

}  // namespace

Refusal restrict_node(std::string_view node, const NodeWrite& write) {
  if (write.resource == "nodes") return restrict_own_node(node, write);
  if (write.resource == "leases") return restrict_name(node, write, "node lease");
  if (write.resource == "csinodes") return restrict_name(node, write, "CSINode");
  if (write.resource == "serviceaccounts" && write.subresource == "token") {
    return restrict_token(node, write);
  }
  if (write.resource != "pods") return std::nullopt;
  if (write.subresource == "status") return restrict_pod_status(node, write);
  if (write.subresource.empty()) return restrict_pod(node, write);
  if (write.subresource != "eviction" || write.pod == nullptr) return std::nullopt;
  if (sync::wire::dig_text(*write.pod, {"spec", "nodeName"}) == node) return std::nullopt;
  return "node " + std::string(node) + " can only evict pods with spec.nodeName set to itself";
}

}  // namespace holdfast::agent::lab
