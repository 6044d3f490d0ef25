#include "sync/objects/list_options.h"

#include "platform/text.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {
namespace {

Result<std::optional<std::int64_t>> number(const Query& query, std::string_view name) {
  if (!query.has(name)) return std::nullopt;
  const std::string_view text = query.get(name);
  const auto value = parse_int<std::int64_t>(text);
  if (value) return value;
  return fail(Errc::invalid,
              "strconv.ParseInt: parsing " + wire::quoted(text) + ": invalid syntax");
}

void add(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!out.empty()) out += '&';
  out.append(name).append("=").append(percent_encode(value));
}

}  // namespace

Result<ListOptions> parse_list_options(const Query& query) {
  ListOptions options;
  options.label_selector = query.get("labelSelector");
  options.field_selector = query.get("fieldSelector");
  options.watch = query.flag("watch");
  options.allow_watch_bookmarks = query.flag("allowWatchBookmarks");
  options.resource_version = query.get("resourceVersion");
  options.resource_version_match = query.get("resourceVersionMatch");
  TRY(options.timeout_seconds, number(query, "timeoutSeconds"));
  TRY(const auto limit, number(query, "limit"));
  options.limit = limit.value_or(0);
  options.continue_token = query.get("continue");
  if (query.has("sendInitialEvents")) {
    options.send_initial_events = query.flag("sendInitialEvents");
  }
  return options;
}

Result<ListOptions> parse_list_options(std::string_view raw_query) {
  TRY(const Query query, Query::parse(raw_query));
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

}  // namespace holdfast::sync::objects
