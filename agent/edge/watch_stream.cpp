#include "agent/edge/watch_stream.h"

#include <algorithm>

#include "sync/api/status.h"

namespace holdfast::agent {
namespace {

// Enough to fill a network buffer; more events go into the next piece.
constexpr std::size_t piece_bytes = 64UL * 1024;

class WatchStream final : public http::BodyStream {
 public:
  WatchStream(ScopePtr scope, const WatchRequest& request, sync::WatchCache::Position position,
              const Clock& clock)
      : scope_(std::move(scope)),
        request_(request),
        position_(position),
        initial_(!request.from),
        clock_(clock),
        bookmark_at_(clock.mono() + request.bookmark_interval) {
    scope_->watch_begins();
  }
  ~WatchStream() override { scope_->watch_ends(clock_.mono()); }
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "watch cancelled");
      std::string piece = take();
      if (!piece.empty() || ended_) co_return piece;
      const MonoTime now = clock_.mono();
      if (now >= request_.end) co_return piece;
      if (request_.bookmarks && now >= bookmark_at_) co_return bookmark(false);
      const MonoTime quiet = request_.bookmarks ? bookmark_at_ : MonoTime::max();
      (void)co_await scope_->changed().wait_until(std::min(request_.end, quiet));
    }
  }

  void cancel() override {
    cancelled_ = true;
    scope_->changed().notify_all();
  }

 private:
  // What can be said now; "" when there is nothing.
  std::string take() {
    std::string piece;
    if (initial_) {
      initial_ = false;
      position_ = cache().end();
      for (const auto& [key, object] : cache().objects()) {
        piece += frame(sync::EventType::added, object);
      }
      if (request_.initial_events_end) piece += bookmark(true);
      if (!piece.empty()) return piece;
    }
    while (!ended_ && piece.size() < piece_bytes) {
      const auto event = cache().at(position_);
      if (!event) {
        ended_ = true;
        return piece +=
               sync::error_frame(cache().kind(), sync::status::expired(event.error().what).body());
      }
      if (*event == nullptr) break;
      ++position_;
      // Its list came from the cloud itself and was newer than the cache was then.
      if (request_.from && (*event)->object.version <= *request_.from) continue;
      piece += frame((*event)->type, (*event)->object);
    }
    return piece;
  }

  [[nodiscard]] std::string frame(sync::EventType type, const sync::CachedObject& object) const {
    return sync::event_frame(cache().kind(), type, *object.bytes);
  }

  std::string bookmark(bool end_of_initial_events) {
    bookmark_at_ = clock_.mono() + request_.bookmark_interval;
    const sync::Version seen = std::max(cache().version(), request_.from.value_or(0));
    return sync::bookmark_frame(cache().kind(), seen, end_of_initial_events);
  }

  [[nodiscard]] const sync::WatchCache& cache() const { return scope_->cache(); }

  ScopePtr scope_;
  WatchRequest request_;
  sync::WatchCache::Position position_;
  bool initial_;
  bool ended_ = false;
  bool cancelled_ = false;
  const Clock& clock_;
  MonoTime bookmark_at_;
};

}  // namespace

Result<std::shared_ptr<http::BodyStream>> open_watch(ScopePtr scope, const WatchRequest& request,
                                                     const Clock& clock) {
  sync::WatchCache::Position position = 0;
  if (request.from) {
    TRY(position, scope->cache().position_of(*request.from));
  }
  return std::shared_ptr<http::BodyStream>(
      std::make_shared<WatchStream>(std::move(scope), request, position, clock));
}

}  // namespace holdfast::agent
