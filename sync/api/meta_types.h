// What every Kubernetes object carries: ObjectMeta and the references and selectors around it.
//
// In all our types a member has the API's name in snake_case; text that the API leaves out when
// empty is an empty string; what may be absent and means something is an optional. `untouched`
// keeps the fields without a member.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"
#include "sync/api/string_map.h"
#include "sync/api/untouched.h"

namespace holdfast::sync {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;
  Untouched untouched;

  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_name;  // "namespace" on the wire; empty: cluster-scoped
  std::string uid;
  std::string resource_version;  // opaque; compared for equality only
  std::int64_t generation = 0;
  std::optional<WallTime> creation_timestamp;
  std::optional<WallTime> deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
  Untouched untouched;  // managedFields, selfLink

  bool operator==(const ObjectMeta&) const = default;

  // The owner that manages this object, or nullptr.
  [[nodiscard]] const OwnerReference* controller() const {
    for (const OwnerReference& owner : owner_references) {
      if (owner.controller.value_or(false)) return &owner;
    }
    return nullptr;
  }
};

struct ObjectReference {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;
  Untouched untouched;

  bool operator==(const ObjectReference&) const = default;
};

struct LabelSelectorRequirement {
  std::string key;
  std::string operator_name;  // "operator" on the wire: In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;
  Untouched untouched;

  bool operator==(const LabelSelectorRequirement&) const = default;
};

// To match with it, compile it: selector.h.
struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;
  Untouched untouched;

  bool operator==(const LabelSelector&) const = default;
};

// A number or a text, usually a percentage: "25%".
struct IntOrString {
  std::int32_t number = 0;
  std::optional<std::string> text;  // wins over `number`

  bool operator==(const IntOrString&) const = default;
};

}  // namespace holdfast::sync
