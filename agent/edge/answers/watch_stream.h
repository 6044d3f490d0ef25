// The stream of one local client's watch on a scope. It sends the events that the client has not
// seen, online and offline alike.

#pragma once

#include <optional>

#include "agent/edge/cache/scopes.h"
#include "agent/edge/filters/filtered_watch.h"
#include "platform/http/message.h"
#include "platform/time.h"
#include "sync/wire/status.h"

namespace holdfast::agent {

struct WatchRequest {
  // The client has seen up to here; nothing: send all objects first.
  std::optional<sync::objects::Version> from;
  bool initial_events_end = false;  // then send an annotated bookmark
  bool bookmarks = false;
  Duration bookmark_interval{};
  MonoTime end{};  // when the stream ends without an error, as at a server's timeout
  // The filters of the watch, on which begin() was called; null: unfiltered.
  std::shared_ptr<FilteredWatch> shown = {};
};

// Opens a watch. The scope must be complete. Errors: gone (`from` is older than the kept history).
[[nodiscard]] Result<std::shared_ptr<http::BodyStream>> open_watch(ScopePtr scope,
                                                                   const WatchRequest& request,
                                                                   const Clock& clock);

// A watch that consists of one ERROR event, as an API server ends a watch that it has accepted.
[[nodiscard]] std::shared_ptr<http::BodyStream> failed_watch(const sync::wire::ScopeKind& kind,
                                                             const sync::wire::ApiStatus& status);

}  // namespace holdfast::agent
