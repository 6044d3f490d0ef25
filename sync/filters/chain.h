// Applies a chain of filters to one cached object. Pure.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/filters/filter.h"
#include "sync/filters/filters.h"

namespace holdfast::sync::filters {

// What a client sees of an object.
struct FilteredObject {
  Effect effect = Effect::none;
  std::string bytes = {};      // for `changed`: the object in its own form and encoding
  Need need = Need::services;  // for `unknown`: what must be known first

  bool operator==(const FilteredObject&) const = default;
};

// `cached` is a whole object or a list item in JSON, or protobuf in its envelope. An object that no
// filter of the chain applies to is not decoded, except for its metadata. Errors: invalid (an
// object that cannot be parsed).
[[nodiscard]] Result<FilteredObject> filter_object(const FilterChain& chain,
                                                   const FilterKnowledge& knowledge,
                                                   std::string_view cached);

}  // namespace holdfast::sync::filters
