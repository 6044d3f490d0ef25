// The filters of one client's watch: turns each event into the frames that the client gets, and
// creates further events when the filters' settings or knowledge change.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>

#include "agent/edge/filters/answer_filters.h"

namespace holdfast::agent {

class FilteredWatch {
 public:
  FilteredWatch(AnswerFilters& filters, FilterRequest call);

  // Begins the watch: the client has seen everything up to `from` or, without it, gets all objects
  // of the cache first. Returns the missing knowledge, if any; then the watch cannot begin yet.
  // Errors: invalid (an unreadable object).
  [[nodiscard]] Result<std::optional<sync::filters::Need>> begin(
      const sync::watch::WatchCache& cache, std::optional<sync::objects::Version> from);

  // The frames for the event; "" if the client gets none. Nothing if knowledge is missing: call
  // again when the scope has changed. Errors: as begin().
  [[nodiscard]] Result<std::optional<std::string>> frames(const sync::wire::ScopeKind& kind,
                                                          const sync::watch::CacheEvent& event);

  // The frames for changes of the filters' knowledge since the last call. The client was sent
  // everything up to version `delivered`. Errors: gone (the settings changed: the client must list
  // again); as begin().
  [[nodiscard]] Result<std::string> catch_up(const sync::watch::WatchCache& cache,
                                             sync::objects::Version delivered);

  // For a watch without a cache: whether the client would now see objects differently from those
  // that it was sent. False until it was sent any.
  [[nodiscard]] bool outdated();

 private:
  [[nodiscard]] bool same_chain(const ViewPtr& view) const;

  AnswerFilters& filters_;
  FilterRequest call_;
  std::uint64_t epoch_;
  ViewPtr view_;  // with which the client was sent events so far; null: unfiltered
  sync::filters::WatchFilter filter_;
  bool has_sent_any_ = false;
};

}  // namespace holdfast::agent
