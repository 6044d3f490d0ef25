// Runs a sync::Reflector against an API server: sends what it decides, feeds it what comes back.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "platform/random.h"
#include "sync/watch/encoding.h"
#include "sync/watch/frames.h"
#include "sync/watch/reflector.h"

namespace holdfast::agent {

// Where the requests go.
class ListWatchSource {
 public:
  virtual ~ListWatchSource() = default;
  // As ApiClient::send().
  virtual asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) = 0;
};

// Who is told. Calls come in order and never after the task has ended.
class ListWatchSink {
 public:
  virtual ~ListWatchSink() = default;
  // These are all objects there are, in the form of sync/watch/cached_form.h.
  virtual void replace(std::vector<std::string> items, const std::string& version,
                       const sync::ScopeKind& kind) = 0;
  // One object was added, modified or deleted; its bytes are those of a whole object, in either
  // encoding.
  virtual void apply(const sync::WatchEvent& event) = 0;
  // Nothing happened up to this version.
  virtual void bookmark(const std::string& version) = 0;

  // The same as replace() and apply() for a sink that has limits. Errors: exhausted; nothing was
  // taken over, and the list-watch begins anew with a list after a pause.
  [[nodiscard]] virtual Status try_replace(std::vector<std::string> items,
                                           const std::string& version,
                                           const sync::ScopeKind& kind) {
    replace(std::move(items), version, kind);
    return {};
  }
  [[nodiscard]] virtual Status try_apply(const sync::WatchEvent& event) {
    apply(event);
    return {};
  }
  // The same page by page, with ReflectorConfig::by_page: these objects exist; `first`: a list
  // begins. Errors: exhausted; the list then ends, and begins anew after a pause.
  [[nodiscard]] virtual Status try_page(std::vector<std::string> /*items*/, bool /*first*/,
                                        const sync::ScopeKind& /*kind*/) {
    return fail(Errc::exhausted, "lists are not taken in pages");
  }
  // The pages since the first one have all objects that exist.
  virtual void end_list(const std::string& /*version*/) {}
  // The list-watch holds `bytes` of pages of an unfinished list, or of an unfinished event; each
  // call replaces the number of the last one. Errors: exhausted; the list-watch then drops them and
  // begins anew after a pause.
  [[nodiscard]] virtual Status try_hold(std::size_t /*bytes*/) { return {}; }
  // A list failed and is tried again after a pause.
  virtual void list_failed(const sync::Failure& /*failure*/) {}
  // A watch could not be opened, or broke, other than for a version that is gone.
  virtual void watch_failed(const sync::Failure& /*failure*/) {}
  virtual void watch_opened() {}
};

struct ListWatchTarget {
  std::string path;  // "/api/v1/pods"
  std::string label_selector;
  std::string field_selector;
  std::string resume_from;    // resourceVersion of what the sink has already; "": list first
  bool ask_protobuf = false;  // a server that has none answers in JSON
  // Once all that came is read, the watch is left alone for so long: what comes meanwhile is read
  // at once. Where many events come and none is urgent, this saves most of what they cost.
  Duration gather = {};
  sync::FrameLimits frames = {};  // of one watch event
  sync::ReflectorConfig reflector = {};
};

// Why an answer other than 2xx did not help, with the pause that it asks for.
[[nodiscard]] sync::Failure failure_of(const http::Response& response);

// Lists and watches until the task is cancelled. Source, sink and random outlive it.
asio::awaitable<void> run_list_watch(ListWatchTarget target, ListWatchSource& source,
                                     ListWatchSink& sink, const Clock& clock, Random& random);

}  // namespace holdfast::agent
