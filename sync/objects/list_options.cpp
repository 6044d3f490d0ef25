#include "sync/objects/list_options.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/objects/version.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {
namespace {

constexpr std::string_view match_exact = "Exact";
constexpr std::string_view match_not_older = "NotOlderThan";
constexpr std::string_view list_matches[] = {match_exact, match_not_older, ""};
constexpr std::string_view watch_matches[] = {match_not_older};

// Of smaller_page(). Three steps lead from the largest page to a single object.
constexpr std::int64_t page_max = 500;
constexpr std::int64_t page_divisor = 8;

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

constexpr const char* match_field = "resourceVersionMatch";

// The rules of upstream's ValidateListOptions, in its order.
wire::FieldErrors errors_of_list(const ListOptions& options) {
  wire::FieldErrors errors;
  const std::string& match = options.resource_version_match;
  const auto forbid = [&errors](std::string why) {
    errors.push_back(wire::field::forbidden(match_field, std::move(why)));
  };
  if (!match.empty()) {
    if (options.resource_version.empty()) {
      forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      forbid("resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != match_exact && match != match_not_older) {
      errors.push_back(wire::field::not_supported(match_field, match, list_matches));
    }
    if (match == match_exact && options.resource_version == "0") {
      forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (options.send_initial_events) {
    errors.push_back(
        wire::field::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

wire::FieldErrors errors_of_watch(const ListOptions& options) {
  wire::FieldErrors errors;
  const std::string& match = options.resource_version_match;
  const auto forbid = [&errors](std::string why) {
    errors.push_back(wire::field::forbidden(match_field, std::move(why)));
  };
  if (options.send_initial_events && match != match_not_older) {
    forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match.empty()) return errors;
  if (!options.send_initial_events) {
    forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match != match_not_older) {
    errors.push_back(wire::field::not_supported(match_field, match, watch_matches));
  }
  if (!options.continue_token.empty()) {
    forbid("resourceVersionMatch is forbidden when continue is provided");
  }
  return errors;
}

std::optional<wire::ApiStatus> refusal_of(const ListOptions& options) {
  const wire::FieldErrors errors =
      options.watch ? errors_of_watch(options) : errors_of_list(options);
  if (!errors.empty()) return wire::status::invalid({"meta.k8s.io", "ListOptions"}, "", errors);
  const auto version = parse_asked_version(options.resource_version);
  if (!version && options.watch) return wire::status::unexplained(version.error().what);
  if (!version)
    return wire::status::bad_request("invalid resource version: " + version.error().what);
  if (!options.watch && !options.continue_token.empty() && *version != 0) {
    return wire::status::bad_request(
        "specifying resource version is not allowed when using continue");
  }
  return std::nullopt;
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

tl::expected<ListOptions, wire::ApiStatus> accept_list_options(const Query& query, bool watch) {
  auto options = parse_list_options(query);
  if (!options) return tl::unexpected(wire::status::bad_request(options.error().what));
  options->watch = watch;
  if (auto refusal = refusal_of(*options)) return tl::unexpected(*std::move(refusal));
  return *std::move(options);
}

Consistency consistency_of(const ListOptions& options) {
  if (options.resource_version.empty()) return Consistency::newest;
  if (options.watch || options.resource_version_match == match_not_older) {
    return Consistency::not_older;
  }
  // A version with a limit means exactly that version.
  const bool by_limit = options.limit > 0 && parse_version(options.resource_version) != Version{0};
  const bool is_exact = options.resource_version_match == match_exact ||
                        (options.resource_version_match.empty() && by_limit);
  return is_exact ? Consistency::exact : Consistency::not_older;
}

bool wants_initial_events(const ListOptions& options) {
  const bool from_any = parse_version(options.resource_version).value_or(0) == 0;
  return options.send_initial_events.value_or(from_any);
}

bool ignores_limit(const ListOptions& options) {
  return options.continue_token.empty() && options.resource_version == "0";
}

std::optional<Query> smaller_page(const Query& query) {
  const auto options = parse_list_options(query);
  if (!options || options->watch || options->limit <= 0) return std::nullopt;
  const bool is_ignored = ignores_limit(*options);
  if (!is_ignored && options->limit == 1) return std::nullopt;
  const std::int64_t shrunk = std::max<std::int64_t>(options->limit / page_divisor, 1);
  const std::int64_t limit = is_ignored ? options->limit : shrunk;
  Query smaller = query;
  if (is_ignored) {
    smaller.remove("resourceVersion");
    smaller.remove("resourceVersionMatch");
  }
  smaller.set("limit", std::to_string(std::min(limit, page_max)));
  return smaller;
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
