// Evaluates selectors locally: answers a narrower list from a wider one that was received
// completely. Pure.

#pragma once

#include <string>

#include "platform/result.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch {

// Identifies a list. Selectors are in canonical form; "" selects everything.
struct Selection {
  std::string group;
  std::string resource;
  std::string namespace_name;
  std::string label_selector;
  std::string field_selector;
};

// Whether a complete answer to `wider` contains every object of `narrower`.
[[nodiscard]] bool covers(const Selection& wider, const Selection& narrower);

// The objects of `from` that match the selection. Errors: invalid (a selector that cannot be
// evaluated here, or an object that cannot be parsed).
[[nodiscard]] Result<WatchCache::Objects> select(const WatchCache& from,
                                                 const Selection& selection);

// Converts the objects to the encoding of a scope of `kind`. Errors: invalid (broken, or a kind
// that the schema does not have).
[[nodiscard]] Result<WatchCache::Objects> transcoded(WatchCache::Objects objects,
                                                     const wire::ScopeKind& kind);

}  // namespace holdfast::sync::watch
