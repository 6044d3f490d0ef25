// Sends one cached object through the filters that stand between it and a client.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/filters/filter.h"
#include "sync/filters/filters.h"

namespace holdfast::sync::filters {

// What a client is shown of an object.
struct Shown {
  Effect effect = Effect::none;
  std::string bytes = {};      // of `changed`: in the object's own form and encoding
  Need need = Need::services;  // of `unknown`

  bool operator==(const Shown&) const = default;
};

// `cached` is a whole object or an item of a list, in JSON, or protobuf in its envelope. Objects
// that none of the filters is about are not even read.
// Errors: invalid (an object that can't be read).
[[nodiscard]] Result<Shown> show(const FilterChain& chain, const FilterKnowledge& knowledge,
                                 std::string_view cached);

}  // namespace holdfast::sync::filters
