// Evaluates a selection here, on a wider answer that was completely received.

#pragma once

#include <string>

#include "platform/result.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync {

// What a list is of; selectors in canonical form, "" for all.
struct Selection {
  std::string group;
  std::string resource;
  std::string namespace_name;
  std::string label_selector;
  std::string field_selector;
};

// Whether a complete answer to `wider` has every object of `narrower`.
[[nodiscard]] bool covers(const Selection& wider, const Selection& narrower);

// The objects of `from` that are in the selection.
// Errors: invalid (a selector that cannot be evaluated here; an object that cannot be read).
[[nodiscard]] Result<WatchCache::Objects> select(const WatchCache& from,
                                                 const Selection& selection);

// The same objects as a scope of `kind` keeps them, in its encoding.
// Errors: invalid (broken; a kind that the schema does not have).
[[nodiscard]] Result<WatchCache::Objects> transcoded(WatchCache::Objects objects,
                                                     const ScopeKind& kind);

}  // namespace holdfast::sync
