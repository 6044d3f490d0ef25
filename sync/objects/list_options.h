// Parses and prints the query of a list or watch request.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/query.h"
#include "platform/result.h"

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

// Without the '?'; parameters sorted by name, defaults left out.
[[nodiscard]] std::string encode_query(const ListOptions& options);

}  // namespace holdfast::sync::objects
