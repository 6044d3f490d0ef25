// Which other objects the pods of a node need, and which of these a node may read only one by one.

#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync {

// An object that a pod names, or that such an object names in turn.
struct NeededObject {
  std::string resource;        // "secrets"
  std::string namespace_name;  // empty: cluster-scoped
  std::string name;

  auto operator<=>(const NeededObject&) const = default;
};
using NeededObjects = std::set<NeededObject>;

// Adds everything that `pod`, a whole object in JSON, may name: Secrets, ConfigMaps,
// PersistentVolumeClaims, ResourceClaims and its ServiceAccount; rather too much than too little.
// Errors: invalid (not an object, no namespace); then what it names is not known.
[[nodiscard]] Status add_references(std::string_view pod, NeededObjects& references);

// The volume that a PersistentVolumeClaim, in JSON, is bound to, or that a VolumeAttachment
// attaches; nothing: none yet, or not readable.
[[nodiscard]] std::optional<NeededObject> volume_of_claim(std::string_view claim);
[[nodiscard]] std::optional<NeededObject> volume_of_attachment(std::string_view attachment);

// The kind of a resource whose objects a node may get by name, but neither list nor watch:
// "PersistentVolumeClaim". Nothing for all others. Source: the Node authorizer of Kubernetes 1.36
// (plugin/pkg/auth/authorizer/node).
[[nodiscard]] std::optional<std::string_view> kind_got_by_name(std::string_view group,
                                                               std::string_view resource);

}  // namespace holdfast::sync
