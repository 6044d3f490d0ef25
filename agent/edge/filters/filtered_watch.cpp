#include "agent/edge/filters/filtered_watch.h"

namespace holdfast::agent {
namespace {

using sync::filters::FilteredEvents;
using sync::filters::Need;

Result<std::string> frames_of(const sync::wire::ScopeKind& kind, const FilteredEvents& delivered) {
  std::string frames;
  for (const sync::watch::CacheEvent& event : delivered.events) {
    TRY(const sync::watch::Bytes cached, event.object.bytes.load());
    frames += sync::watch::event_frame(kind, event.type, *cached);
  }
  return frames;
}

}  // namespace

FilteredWatch::FilteredWatch(AnswerFilters& filters, FilterRequest call)
    : filters_(filters),
      call_(std::move(call)),
      epoch_(filters.epoch()),
      view_(filters.view(call_)) {}

Result<std::optional<Need>> FilteredWatch::begin(const sync::watch::WatchCache& cache,
                                                 std::optional<sync::objects::Version> from) {
  epoch_ = filters_.epoch();
  view_ = filters_.view(call_);
  if (!view_) return std::nullopt;
  return filter_.resume(*view_, cache.objects(), from.value_or(cache.version()));
}

Result<std::optional<std::string>> FilteredWatch::frames(const sync::wire::ScopeKind& kind,
                                                         const sync::watch::CacheEvent& event) {
  std::optional<std::string> none;
  if (!view_) {
    TRY(const sync::watch::Bytes cached, event.object.bytes.load());
    return sync::watch::event_frame(kind, event.type, *cached);
  }
  TRY(const FilteredEvents delivered, filter_.filter_event(*view_, event));
  if (delivered.need) {
    filters_.want(*delivered.need);
    return none;
  }
  has_sent_any_ = true;
  TRY(std::string frames, frames_of(kind, delivered));
  return frames;
}

bool FilteredWatch::same_chain(const ViewPtr& view) const {
  if (!view || !view_) return view == view_;
  return view->chain == view_->chain;
}

Result<std::string> FilteredWatch::catch_up(const sync::watch::WatchCache& cache,
                                            sync::objects::Version delivered) {
  const std::uint64_t epoch = filters_.epoch();
  if (epoch == epoch_) return std::string();
  const ViewPtr now = filters_.view(call_);
  if (!same_chain(now)) {
    return fail(Errc::gone, "the filters of this component have changed: list again");
  }
  FilteredEvents changes;
  if (view_ && now->knowledge != view_->knowledge) {
    TRY(changes, filter_.reconsider(*view_, *now, cache.objects(), delivered));
  }
  if (changes.need) {
    filters_.want(*changes.need);
    return std::string();
  }
  epoch_ = epoch;
  view_ = now;
  return frames_of(cache.kind(), changes);
}

bool FilteredWatch::outdated() {
  const std::uint64_t epoch = filters_.epoch();
  if (epoch == epoch_) return false;
  epoch_ = epoch;
  const ViewPtr now = filters_.view(call_);
  const bool same = same_chain(now) && (!now || now->knowledge == view_->knowledge);
  if (!has_sent_any_) view_ = now;
  return has_sent_any_ && !same;
}

}  // namespace holdfast::agent
