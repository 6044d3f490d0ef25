// Parses and prints the query of a list or watch request.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/query.h"
#include "platform/result.h"
#include "sync/wire/status.h"

namespace holdfast::sync::objects {

struct ListOptions {
  std::string label_selector;  // not parsed; see selector.h
  std::string field_selector;  // not parsed
  bool watch = false;
  bool allow_watch_bookmarks = false;
  std::string resource_version;        // "": the newest; "0": any version
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"
  std::optional<std::int64_t> timeout_seconds;
  std::int64_t limit = 0;  // 0: no limit
  std::string continue_token;
  std::optional<bool> send_initial_events;

  bool operator==(const ListOptions&) const = default;
};

// Unknown parameters are ignored. Errors: invalid, in upstream's wording.
[[nodiscard]] Result<ListOptions> parse_list_options(const Query& query);
[[nodiscard]] Result<ListOptions> parse_list_options(std::string_view raw_query);

// The options of a list, or of a watch whatever the parameter `watch` says, if kube-apiserver 1.36
// accepts them. Otherwise its answer: a parameter is not a number (400; 500 for the resourceVersion
// of a watch), or a combination is not allowed (422).
[[nodiscard]] tl::expected<ListOptions, wire::ApiStatus> accept_list_options(const Query& query,
                                                                             bool watch);

// Which states of a collection answer a request.
enum class Consistency : std::uint8_t {
  newest,     // the newest one
  not_older,  // any that is at least as new as the resourceVersion
  exact,      // that of the resourceVersion only
};

// What a list without a continue token, or the initial events of a watch, ask for.
[[nodiscard]] Consistency consistency_of(const ListOptions& options);
// Whether a watch begins with the objects that exist.
[[nodiscard]] bool wants_initial_events(const ListOptions& options);

// Whether an API server ignores the limit: it answers version 0 from its watch cache, as a whole.
[[nodiscard]] bool ignores_limit(const ListOptions& options);

// What to ask for instead of a list, or of a page of one, that was too large: a page of fewer
// objects, at most 500 as client-go asks for. Nothing if the client has not asked for pages or for
// one object only. A list of any version (0) is asked for in its newest one, because the limit is
// ignored otherwise.
[[nodiscard]] std::optional<Query> smaller_page(const Query& query);

// Without the '?'; parameters sorted by name, defaults left out.
[[nodiscard]] std::string encode_query(const ListOptions& options);

}  // namespace holdfast::sync::objects
