// Runs a sync::watch::Reflector against an API server: performs the LIST and WATCH requests that it
// decides on, feeds it the answers, and passes the resulting objects and events to a sink.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "platform/random.h"
#include "sync/watch/reflector.h"
#include "sync/wire/encoding.h"
#include "sync/wire/frames.h"

namespace holdfast::agent {

// Sends the requests of a list-watch.
class ListWatchSource {
 public:
  virtual ~ListWatchSource() = default;
  // See ApiClient::send().
  virtual asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) = 0;
};

// Receives objects and events. Calls come in order, and none after the task has ended.
class ListWatchSink {
 public:
  virtual ~ListWatchSink() = default;
  // A complete list: `items` are all objects that exist at `version`, in the form of
  // sync/watch/cached_form.h.
  virtual void replace(std::vector<std::string> items, const std::string& version,
                       const sync::wire::ScopeKind& kind) = 0;
  // One object was added, modified or deleted. The event holds the whole object, in either
  // encoding.
  virtual void apply(const sync::wire::WatchEvent& event) = 0;
  // No further event happened up to this version.
  virtual void bookmark(const std::string& version) = 0;

  // Like replace() and apply(), for a sink that has limits. Errors: exhausted; then the sink has
  // taken over nothing, and the list-watch starts again with a list after a pause, as after a list
  // that was too large.
  [[nodiscard]] virtual Status try_replace(std::vector<std::string> items,
                                           const std::string& version,
                                           const sync::wire::ScopeKind& kind) {
    replace(std::move(items), version, kind);
    return {};
  }
  [[nodiscard]] virtual Status try_apply(const sync::wire::WatchEvent& event) {
    apply(event);
    return {};
  }
  // Receives a list page by page, if ReflectorConfig::by_page is set: `items` exist; `first` marks
  // the first page of a list. Errors: exhausted; the list then ends, and a new one starts after a
  // pause.
  [[nodiscard]] virtual Status try_page(std::vector<std::string> /*items*/, bool /*first*/,
                                        const sync::wire::ScopeKind& /*kind*/) {
    return fail(Errc::exhausted, "lists are not taken in pages");
  }
  // The list is complete: the pages since the last `first` hold all objects that exist. Errors: as
  // try_replace().
  [[nodiscard]] virtual Status try_end_list(const std::string& /*version*/) { return {}; }
  // The first page of a list is asked for.
  virtual void list_begins() {}
  // The list-watch holds `bytes` of an unfinished list or event. Each call replaces the previous
  // number. Errors: exhausted; the list-watch then drops these bytes and starts again after a
  // pause.
  [[nodiscard]] virtual Status try_reserve(std::size_t /*bytes*/) { return {}; }
  // A list failed, or the sink had no room; the list is retried after a pause.
  virtual void list_failed(const sync::watch::Failure& /*failure*/) {}
  // A watch could not be opened or broke. Not called if its version was gone (410).
  virtual void watch_failed(const sync::watch::Failure& /*failure*/) {}
  virtual void watch_opened() {}
  // One watch after the other has brought nothing, so that changes are missed: see
  // ReflectorConfig::stalled_watches. `failure` is that of the last one.
  virtual void watch_stalled(const sync::watch::Failure& /*failure*/) {}
};

struct ListWatchTarget {
  std::string path;  // "/api/v1/pods"
  std::string label_selector;
  std::string field_selector;
  std::string resume_from;  // resourceVersion of what the sink already has; "": list first
  MonoTime list_due = MonoTime::min();  // a first list is not sent earlier
  bool ask_protobuf = false;            // JSON is accepted as well
  // Pause between reads of the watch, once all that has arrived was read. Events that arrive
  // meanwhile are read in one piece, which costs less CPU. Zero: no pause, for events that are
  // urgent.
  Duration gather = {};
  // The source accepts answers of as many bytes as a list may have, so that one for which it has no
  // room (exhausted) is taken for a list that is too large.
  bool answer_may_be_list = false;
  sync::wire::FrameLimits frames = {};  // of one watch event
  sync::watch::ReflectorConfig reflector = {};
};

// The failure that an answer other than 2xx describes, with the pause that it asks for.
[[nodiscard]] sync::watch::Failure failure_of(const http::Response& response);

// Lists and watches until the task is cancelled. `source`, `sink`, `clock` and `random` must
// outlive it.
asio::awaitable<void> run_list_watch(ListWatchTarget target, ListWatchSource& source,
                                     ListWatchSink& sink, const Clock& clock, Random& random);

}  // namespace holdfast::agent
