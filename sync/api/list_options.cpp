#include "sync/api/list_options.h"

#include "platform/text.h"
#include "sync/api/quote.h"

namespace holdfast::sync {
namespace {

Result<std::optional<std::int64_t>> number(const QueryPairs& query, std::string_view name) {
  const auto text = query_value(query, name);
  if (!text) return std::nullopt;
  const auto value = parse_int<std::int64_t>(*text);
  if (value) return value;
  return fail(Errc::invalid, "strconv.ParseInt: parsing " + quoted(*text) + ": invalid syntax");
}

std::string text(const QueryPairs& query, std::string_view name) {
  return std::string(query_value(query, name).value_or(""));
}

void add(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!out.empty()) out += '&';
  out.append(name).append("=").append(percent_encode(value));
}

}  // namespace

Result<QueryPairs> parse_query(std::string_view raw) {
  QueryPairs query;
  for (const std::string_view pair : split(raw, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const bool bare = equals == pair.npos;
    TRY(std::string name, percent_decode(pair.substr(0, equals), true));
    TRY(std::string value, percent_decode(bare ? "" : pair.substr(equals + 1), true));
    query.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

std::optional<std::string_view> query_value(const QueryPairs& query, std::string_view name) {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

bool query_flag(const QueryPairs& query, std::string_view name) {
  const auto value = query_value(query, name);
  return value && *value != "0" && !equals_ignoring_case(*value, "false");
}

Result<ListOptions> parse_list_options(const QueryPairs& query) {
  ListOptions options;
  options.label_selector = text(query, "labelSelector");
  options.field_selector = text(query, "fieldSelector");
  options.watch = query_flag(query, "watch");
  options.allow_watch_bookmarks = query_flag(query, "allowWatchBookmarks");
  options.resource_version = text(query, "resourceVersion");
  options.resource_version_match = text(query, "resourceVersionMatch");
  TRY(options.timeout_seconds, number(query, "timeoutSeconds"));
  TRY(const auto limit, number(query, "limit"));
  options.limit = limit.value_or(0);
  options.continue_token = text(query, "continue");
  if (query_value(query, "sendInitialEvents")) {
    options.send_initial_events = query_flag(query, "sendInitialEvents");
  }
  return options;
}

Result<ListOptions> parse_list_options(std::string_view raw_query) {
  TRY(const QueryPairs query, parse_query(raw_query));
  return parse_list_options(query);
}

std::string encode_query(const ListOptions& options) {
  std::string out;
  add(out, "allowWatchBookmarks", options.allow_watch_bookmarks ? "true" : "");
  add(out, "continue", options.continue_token);
  add(out, "fieldSelector", options.field_selector);
  add(out, "labelSelector", options.label_selector);
  add(out, "limit", options.limit > 0 ? std::to_string(options.limit) : "");
  add(out, "resourceVersion", options.resource_version);
  add(out, "resourceVersionMatch", options.resource_version_match);
  if (options.send_initial_events) {
    add(out, "sendInitialEvents", *options.send_initial_events ? "true" : "false");
  }
  if (options.timeout_seconds) {
    add(out, "timeoutSeconds", std::to_string(*options.timeout_seconds));
  }
  add(out, "watch", options.watch ? "true" : "");
  return out;
}

}  // namespace holdfast::sync
