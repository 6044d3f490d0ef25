#include "sync/node/log_options.h"

#include <algorithm>
#include <chrono>

#include "platform/text.h"

namespace holdfast::sync::node {
namespace {

// The longest `sinceSeconds` that is subtracted as it is; no log is older.
constexpr std::int64_t since_seconds_max = std::int64_t{100} * 365 * 24 * 3600;

Result<std::optional<std::int64_t>> read_log_number(const Query& query, std::string_view name) {
  const std::string_view text = query.get(name);
  if (text.empty()) return std::nullopt;
  const auto number = parse_int<std::int64_t>(text);
  if (number) return number;
  // As Go says it, which the API server passes on.
  const bool is_number = text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) == text.npos;
  return fail(Errc::invalid,
              "strconv.ParseInt: parsing \"" + std::string(text) +
                  "\": " + (is_number && text != "-" ? "value out of range" : "invalid syntax"));
}

void check_positive(std::string_view name, const std::optional<std::int64_t>& value,
                    wire::FieldErrors& errors) {
  if (!value || *value >= 1) return;
  errors.push_back(wire::field::invalid_raw(std::string(name), std::to_string(*value),
                                            "must be greater than 0"));
}

}  // namespace

std::optional<WallTime> LogOptions::since(WallTime now) const {
  if (since_time) return since_time;
  if (!since_seconds) return std::nullopt;
  return now - std::chrono::seconds(std::clamp<std::int64_t>(*since_seconds, 0, since_seconds_max));
}

Result<LogOptions> parse_log_options(const Query& query) {
  LogOptions options;
  options.follow = query.flag("follow");
  options.previous = query.flag("previous");
  options.timestamps = query.flag("timestamps");
  TRY(options.since_seconds, read_log_number(query, "sinceSeconds"));
  TRY(options.tail_lines, read_log_number(query, "tailLines"));
  TRY(options.limit_bytes, read_log_number(query, "limitBytes"));
  const std::string_view since = query.get("sinceTime");
  if (since.empty()) return options;
  auto time = parse_rfc3339(since);
  if (!time) return fail("sinceTime", time.error());
  options.since_time = *time;
  return options;
}

wire::FieldErrors check_log_options(const LogOptions& options) {
  wire::FieldErrors errors;
  if (options.tail_lines && *options.tail_lines < 0) {
    errors.push_back(wire::field::invalid_raw("tailLines", std::to_string(*options.tail_lines),
                                              "must be greater than or equal to 0"));
  }
  check_positive("limitBytes", options.limit_bytes, errors);
  if (options.since_seconds && options.since_time) {
    errors.push_back(wire::field::forbidden(
        "[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  }
  check_positive("sinceSeconds", options.since_seconds, errors);
  return errors;
}

}  // namespace holdfast::sync::node
