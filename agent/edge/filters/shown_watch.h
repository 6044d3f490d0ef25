// One client's watch as the filters let it see it: the frames that it gets for each event.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>

#include "agent/edge/filters/answer_filters.h"

namespace holdfast::agent {

class ShownWatch {
 public:
  ShownWatch(AnswerFilters& filters, FilterCall call);

  // The client goes on from `from`, or begins with all objects of the cache. Returns what is not
  // known that decides how they look; then it can't begin yet. Errors: invalid (an object that
  // can't be read).
  [[nodiscard]] Result<std::optional<sync::filters::Need>> begin(const sync::WatchCache& cache,
                                                                 std::optional<sync::Version> from);

  // What the client gets of the event; "" when that is nothing. Nothing while something is not
  // known that decides: ask again when the scope has changed. Errors: as begin().
  [[nodiscard]] Result<std::optional<std::string>> frames(const sync::ScopeKind& kind,
                                                          const sync::CacheEvent& event);

  // What it gets besides, because what the filters know has changed. It was told all up to
  // version `told`. Errors: gone (it must list again); as begin().
  [[nodiscard]] Result<std::string> catch_up(const sync::WatchCache& cache, sync::Version told);

  // For a watch without a cache: whether it would see the same objects otherwise now. Until it was
  // told anything it never does.
  [[nodiscard]] bool outdated();

 private:
  [[nodiscard]] bool same_chain(const ViewPtr& view) const;

  AnswerFilters& filters_;
  FilterCall call_;
  std::uint64_t epoch_;
  ViewPtr view_;  // by which the client was told so far; null: as it is
  sync::filters::WatchFilter filter_;
  bool told_any_ = false;
};

}  // namespace holdfast::agent
