// Finds the other objects that the pods of a node need, and tells which kinds a node may read only
// by name. Pure.

#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::autonomy {

// An object that a pod names, or that such an object names.
struct NeededObject {
  std::string resource;        // "secrets"
  std::string namespace_name;  // empty: cluster-scoped
  std::string name;

  auto operator<=>(const NeededObject&) const = default;
};
using NeededObjects = std::set<NeededObject>;

// Adds every object that `pod`, a whole Pod in JSON, may name: Secrets, ConfigMaps,
// PersistentVolumeClaims, ResourceClaims and its ServiceAccount. It may add names that are not
// needed, but misses none. Errors: invalid (not an object, or without a namespace).
[[nodiscard]] Status add_references(std::string_view pod, NeededObjects& references);

// The PersistentVolume that a PersistentVolumeClaim is bound to, or that a VolumeAttachment
// attaches. Both are JSON. std::nullopt: none yet, or the JSON is broken.
[[nodiscard]] std::optional<NeededObject> volume_of_claim(std::string_view claim);
[[nodiscard]] std::optional<NeededObject> volume_of_attachment(std::string_view attachment);

// The kind ("PersistentVolumeClaim") of a resource whose objects a node may get by name but neither
// list nor watch; std::nullopt for all other resources. Source: the Node authorizer of
// Kubernetes 1.36 (plugin/pkg/auth/authorizer/node).
[[nodiscard]] std::optional<std::string_view> kind_got_by_name(std::string_view group,
                                                               std::string_view resource);

}  // namespace holdfast::sync::autonomy
