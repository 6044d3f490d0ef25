#include "agent/edge/answers/watch_stream.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace holdfast::agent {
namespace {

// Enough to fill a network buffer. Further events go into the next piece.
constexpr std::size_t piece_bytes = 64UL * 1024;

class WatchStream final : public http::BodyStream {
 public:
  WatchStream(ScopePtr scope, const WatchRequest& request,
              sync::watch::WatchCache::Position position, const Clock& clock)
      : scope_(std::move(scope)),
        request_(request),
        position_(position),
        initial_(!request.from),
        told_(request.from.value_or(0)),
        clock_(clock),
        bookmark_at_(clock.mono() + request.bookmark_interval) {
    scope_->add_watch();
  }
  ~WatchStream() override { scope_->remove_watch(clock_.mono()); }
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "watch cancelled");
      std::string piece = take();
      if (!piece.empty() || ended_) co_return piece;
      // The scope is not updated any more: the client watches again.
      if (scope_->is_detached()) co_return piece;
      const MonoTime now = clock_.mono();
      if (now >= request_.end) co_return piece;
      // No bookmark while events are held back: it would be ahead of them.
      const bool bookmarks = request_.bookmarks && !held_;
      if (bookmarks && now >= bookmark_at_) {
        co_return bookmark(std::max(cache().version(), request_.from.value_or(0)), false);
      }
      const MonoTime quiet = bookmarks ? bookmark_at_ : MonoTime::max();
      (void)co_await scope_->changed().wait_until(std::min(request_.end, quiet));
    }
  }

  void cancel() override {
    cancelled_ = true;
    scope_->changed().notify_all();
  }

 private:
  // The frames that can be sent now; "" for none.
  std::string take() {
    if (ended_) return {};
    held_ = scope_->held();
    if (held_) return {};
    if (initial_) {
      std::string piece = take_all();
      if (initial_ || !piece.empty()) return piece;
    }
    std::string piece = catch_up();
    while (!ended_ && !held_ && piece.size() < piece_bytes) {
      const auto event = cache().at(position_);
      if (!event) return piece += end(sync::wire::status::expired(event.error().what));
      if (*event == nullptr) break;
      // The client's list came directly from the cloud and was newer than the cache.
      const bool known = request_.from && (*event)->object.version <= *request_.from;
      if (!known) piece += say(**event);
      if (held_) break;
      ++position_;
      told_ = std::max(told_, (*event)->object.version);
    }
    return piece;
  }

  // The next frames of the objects that are sent first; "" while a filter lacks knowledge.
  std::string take_all() {
    if (!first_) {
      if (request_.shown) {
        const auto needs = request_.shown->begin(cache(), std::nullopt);
        if (!needs) return end(sync::wire::status::internal_error(needs.error().what));
        held_ = needs->has_value();
        if (held_) return {};
      }
      // As they are now, so that later events follow them without a gap.
      first_.emplace(cache().objects().begin(), cache().objects().end());
      position_ = cache().end();
      told_ = cache().version();
    }
    std::string piece;
    while (!ended_ && !held_ && !first_->empty() && piece.size() < piece_bytes) {
      auto& [key, object] = first_->front();
      piece += say({.type = sync::watch::EventType::added, .key = key, .object = object});
      if (!held_) first_->pop_front();
    }
    if (ended_ || held_ || !first_->empty()) return piece;
    initial_ = false;
    first_.reset();
    if (request_.initial_events_end) piece += bookmark(told_, true);
    return piece;
  }

  // The frames for an event. Sets held_ if a filter lacks knowledge.
  std::string say(const sync::watch::CacheEvent& event) {
    if (!request_.shown) {
      const auto cached = event.object.bytes.load();
      if (!cached) return end(sync::wire::status::internal_error(cached.error().what));
      return sync::watch::event_frame(cache().kind(), event.type, **cached);
    }
    auto frames = request_.shown->frames(cache().kind(), event);
    if (!frames) return end(sync::wire::status::internal_error(frames.error().what));
    held_ = held_ || !*frames;
    return std::move(*frames).value_or("");
  }

  std::string catch_up() {
    if (!request_.shown) return {};
    auto frames = request_.shown->catch_up(cache(), told_);
    if (frames) return *std::move(frames);
    const bool gone = frames.error().code == Errc::gone;
    return end(gone ? sync::wire::status::expired(frames.error().what)
                    : sync::wire::status::internal_error(frames.error().what));
  }

  std::string end(const sync::wire::ApiStatus& status) {
    ended_ = true;
    return sync::watch::error_frame(cache().kind(), status.body());
  }

  std::string bookmark(sync::objects::Version seen, bool end_of_initial_events) {
    bookmark_at_ = clock_.mono() + request_.bookmark_interval;
    return sync::watch::bookmark_frame(cache().kind(), seen, end_of_initial_events);
  }

  [[nodiscard]] const sync::watch::WatchCache& cache() const { return scope_->cache(); }

  ScopePtr scope_;
  WatchRequest request_;
  sync::watch::WatchCache::Position position_;
  bool initial_;
  // The objects that are still to be sent first; nothing before they are known.
  std::optional<std::deque<std::pair<sync::watch::ObjectKey, sync::watch::CachedObject>>> first_;
  bool held_ = false;            // the next event must wait
  sync::objects::Version told_;  // the client was sent everything up to this version
  bool ended_ = false;
  bool cancelled_ = false;
  const Clock& clock_;
  MonoTime bookmark_at_;
};

class FailedWatch final : public http::BodyStream {
 public:
  explicit FailedWatch(std::string frame) : frame_(std::move(frame)) {}

  asio::awaitable<Result<std::string>> next() override { co_return std::exchange(frame_, {}); }
  void cancel() override {}

 private:
  std::string frame_;
};

}  // namespace

std::shared_ptr<http::BodyStream> failed_watch(const sync::wire::ScopeKind& kind,
                                               const sync::wire::ApiStatus& status) {
  return std::make_shared<FailedWatch>(sync::watch::error_frame(kind, status.body()));
}

Result<std::shared_ptr<http::BodyStream>> open_watch(ScopePtr scope, const WatchRequest& request,
                                                     const Clock& clock) {
  sync::watch::WatchCache::Position position = 0;
  if (request.from) {
    TRY(position, scope->cache().position_of(*request.from));
  }
  return std::shared_ptr<http::BodyStream>(
      std::make_shared<WatchStream>(std::move(scope), request, position, clock));
}

}  // namespace holdfast::agent
