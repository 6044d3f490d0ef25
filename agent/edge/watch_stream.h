// One local client's watch on a scope: what it has not seen, as it comes, online and offline alike.

#pragma once

#include <optional>

#include "agent/edge/filters/shown_watch.h"
#include "agent/edge/scopes.h"
#include "platform/http/message.h"
#include "platform/time.h"

namespace holdfast::agent {

struct WatchRequest {
  std::optional<sync::Version> from;  // seen up to here; nothing: begin with all objects
  bool initial_events_end = false;    // mark the end of these with an annotated bookmark
  bool bookmarks = false;
  Duration bookmark_interval{};
  MonoTime end{};  // then the stream ends well, as a server's timeout does
  // As what the client sees each event; null: as it is. It has begun.
  std::shared_ptr<ShownWatch> shown = {};
};

// The scope must be complete. Errors: gone (`from` is older than the history kept).
[[nodiscard]] Result<std::shared_ptr<http::BodyStream>> open_watch(ScopePtr scope,
                                                                   const WatchRequest& request,
                                                                   const Clock& clock);

}  // namespace holdfast::agent
