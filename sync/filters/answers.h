// Filters the body of an answer for one client, whether it comes from the API server or from the
// cache. Pure.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/filters/chain.h"

namespace holdfast::sync::filters {

struct FilteredBody {
  // `none`: pass on the body as it came. `dropped`: the body is one object that the client must not
  // see.
  Effect effect = Effect::none;
  std::string bytes = {};      // the new body; for `changed`
  Need need = Need::services;  // for `unknown`: what is needed to filter one of the objects

  bool operator==(const FilteredBody&) const = default;
};

// `body` is a List or an object, in JSON or protobuf. A Status is not filtered. Errors: invalid
// (broken; an object that cannot be parsed; a Table or another form that only an API server makes).
[[nodiscard]] Result<FilteredBody> filter_body(const FilterChain& chain,
                                               const FilterKnowledge& knowledge,
                                               std::string_view body);

}  // namespace holdfast::sync::filters
