// The body of an API server's answer as a client is shown it, whoever made it: the cloud or the
// cache.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/filters/chain.h"

namespace holdfast::sync::filters {

struct ShownBody {
  // none: pass on the body as it came. dropped: it was one object, and the client is not to see it.
  Effect effect = Effect::none;
  std::string bytes = {};      // of `changed`
  Need need = Need::services;  // of `unknown`: of one of the objects

  bool operator==(const ShownBody&) const = default;
};

// `body` is a List or an object, in either encoding. A Status is left alone.
// Errors: invalid (broken; an object that can't be read; a Table or another form that only an API
// server makes).
[[nodiscard]] Result<ShownBody> show_body(const FilterChain& chain,
                                          const FilterKnowledge& knowledge, std::string_view body);

}  // namespace holdfast::sync::filters
