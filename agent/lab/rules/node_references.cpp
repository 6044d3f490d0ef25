// Finds the objects that a node's pods refer to.

#include <boost/json.hpp>
#include <set>

#include "agent/lab/rules/node_authorizer.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view mirror = "kubernetes.io/config.mirror";

// Whether a pod refers to a Secret or ConfigMap in a volume, an environment or a projection.
class References {
 public:
  References(std::string_view resource, std::string_view name)
      : is_secret_(resource == "secrets"), name_(name) {}

  [[nodiscard]] bool in_pod(const json::object& pod) const {
    for (const json::value& item : sync::wire::dig_list(pod, {"spec", "imagePullSecrets"})) {
      if (is_secret_ && sync::wire::dig_text(sync::wire::as_object(item), {"name"}) == name_)
        return true;
    }
    for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
      for (const json::value& item : sync::wire::dig_list(pod, {"spec", list})) {
        if (in_container(sync::wire::as_object(item))) return true;
      }
    }
    for (const json::value& item : sync::wire::dig_list(pod, {"spec", "volumes"})) {
      if (in_volume(sync::wire::as_object(item))) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool in_container(const json::object& container) const {
    for (const json::value& item : sync::wire::dig_list(container, {"env"})) {
      const std::string_view source = is_secret_ ? "secretKeyRef" : "configMapKeyRef";
      if (sync::wire::dig_text(sync::wire::as_object(item), {"valueFrom", source, "name"}) == name_)
        return true;
    }
    for (const json::value& item : sync::wire::dig_list(container, {"envFrom"})) {
      const std::string_view source = is_secret_ ? "secretRef" : "configMapRef";
      if (sync::wire::dig_text(sync::wire::as_object(item), {source, "name"}) == name_) return true;
    }
    return false;
  }

  [[nodiscard]] bool in_volume(const json::object& volume) const {
    for (const json::value& item : sync::wire::dig_list(volume, {"projected", "sources"})) {
      const std::string_view source = is_secret_ ? "secret" : "configMap";
      if (sync::wire::dig_text(sync::wire::as_object(item), {source, "name"}) == name_) return true;
    }
    if (!is_secret_) return sync::wire::dig_text(volume, {"configMap", "name"}) == name_;
    if (sync::wire::dig_text(volume, {"secret", "secretName"}) == name_) return true;
    if (sync::wire::dig_text(volume, {"csi", "nodePublishSecretRef", "name"}) == name_) return true;
    for (const std::string_view driver : {"cephfs", "flexVolume", "iscsi", "rbd", "scaleIO"}) {
      if (sync::wire::dig_text(volume, {driver, "secretRef", "name"}) == name_) return true;
    }
    return sync::wire::dig_text(volume, {"azureFile", "secretName"}) == name_;
  }

  bool is_secret_;
  std::string_view name_;
};

bool claims_volume(const json::object& pod, std::string_view claim) {
  for (const json::value& item : sync::wire::dig_list(pod, {"spec", "volumes"})) {
    const json::object& volume = sync::wire::as_object(item);
    if (sync::wire::dig_text(volume, {"persistentVolumeClaim", "claimName"}) == claim) return true;
    if (sync::wire::dig(volume, {"ephemeral"}) == nullptr) continue;
    const std::string made = std::string(sync::wire::name_of(pod)) + "-" +
                             std::string(sync::wire::dig_text(volume, {"name"}));
    if (made == claim) return true;
  }
  return false;
}

bool claims_resource(const json::object& pod, std::string_view claim) {
  for (const json::value& item : sync::wire::dig_list(pod, {"spec", "resourceClaims"})) {
    if (sync::wire::dig_text(sync::wire::as_object(item), {"resourceClaimName"}) == claim)
      return true;
  }
  for (const json::value& item : sync::wire::dig_list(pod, {"status", "resourceClaimStatuses"})) {
    if (sync::wire::dig_text(sync::wire::as_object(item), {"resourceClaimName"}) == claim)
      return true;
  }
  return false;
}

bool refers(const json::object& pod, std::string_view resource, std::string_view name) {
  if (resource == "pods") return sync::wire::name_of(pod) == name;
  if (sync::wire::dig(pod, {"metadata", "annotations", mirror}) != nullptr) return false;
  if (resource == "serviceaccounts")
    return sync::wire::dig_text(pod, {"spec", "serviceAccountName"}) == name;
  if (resource == "persistentvolumeclaims") return claims_volume(pod, name);
  if (resource == "resourceclaims") return claims_resource(pod, name);
  return References(resource, name).in_pod(pod);
}

bool one_of_the_pods(std::string_view node, std::string_view resource, std::string_view name_space,
                     std::string_view name, const NodeObjects& objects) {
  bool found = false;
  objects.pods([&found, node, resource, name_space, name](const json::object& pod) {
    if (found || sync::wire::dig_text(pod, {"spec", "nodeName"}) != node) return;
    found = sync::wire::namespace_of(pod) == name_space && refers(pod, resource, name);
  });
  return found;
}

// Whether one of the node's pods claims the volume.
bool claimed(std::string_view node, const json::object& volume, const NodeObjects& objects) {
  const json::object& claim = sync::wire::dig_object(volume, {"spec", "claimRef"});
  const std::string_view name = sync::wire::dig_text(claim, {"name"});
  return !name.empty() &&
         one_of_the_pods(node, "persistentvolumeclaims", sync::wire::dig_text(claim, {"namespace"}),
                         name, objects);
}

// Whether the volume's driver needs this Secret on the node. References are in the volume's source;
// one without a namespace is in the claim's namespace.
bool volume_needs(const json::object& volume, std::string_view name_space, std::string_view name) {
  for (const auto& source : sync::wire::dig_object(volume, {"spec"})) {
    for (const std::string_view field :
         {"secretRef", "nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef",
          "controllerExpandSecretRef", "controllerPublishSecretRef"}) {
      const json::object& reference =
          sync::wire::dig_object(sync::wire::as_object(source.value()), {field});
      std::string_view space = sync::wire::dig_text(reference, {"namespace"});
      if (space.empty()) space = sync::wire::dig_text(volume, {"spec", "claimRef", "namespace"});
      if (space == name_space && sync::wire::dig_text(reference, {"name"}) == name) return true;
    }
  }
  return false;
}

}  // namespace

bool belongs_to_node(std::string_view node, std::string_view resource, std::string_view name_space,
                     std::string_view name, const NodeObjects& objects) {
  if (resource != "persistentvolumes" &&
      one_of_the_pods(node, resource, name_space, name, objects)) {
    return true;
  }
  if (resource != "persistentvolumes" && resource != "secrets") return false;
  bool found = false;
  objects.volumes([&found, &objects, node, resource, name_space, name](const json::object& volume) {
    const bool meant = resource == "secrets" ? volume_needs(volume, name_space, name)
                                             : sync::wire::name_of(volume) == name;
    if (!found && meant) found = claimed(node, volume, objects);
  });
  return found;
}

}  // namespace holdfast::agent::lab
