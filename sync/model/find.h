// Searches in the lists of generated structs.

#pragma once

#include <string_view>

namespace holdfast::sync::inline model {

// The condition of this type, or nullptr. Borrowed from `status`.
template <class Status>
[[nodiscard]] auto find_condition(const Status& status, std::string_view type)
    -> decltype(status.conditions.data()) {
  for (const auto& found : status.conditions) {
    if (found.type == type) return &found;
  }
  return nullptr;
}

// The owner reference with controller=true, or nullptr. Borrowed from `metadata`.
template <class Metadata>
[[nodiscard]] auto find_controller(const Metadata& metadata)
    -> decltype(metadata.owner_references.data()) {
  for (const auto& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

}  // namespace holdfast::sync::inline model
