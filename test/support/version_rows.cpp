#include "test/support/version_rows.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "platform/check.h"
#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? std::string(value->as_string()) : json::serialize(*value);
}

// The text at the end of the path; "" if it ends earlier.
std::string text_in(const json::value& from, std::initializer_list<std::string_view> path) {
  const json::value* at = &from;
  for (const std::string_view name : path) {
    at = at->is_object() ? at->as_object().if_contains(name) : nullptr;
    if (at == nullptr) return {};
  }
  return at->is_string() ? std::string(at->as_string()) : json::serialize(*at);
}

void replace_each(std::string& text, const std::string& from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
    text.replace(at, from.size(), to);
  }
}

// The causes in order, then the rest that is told.
std::string details_text(const json::value* details) {
  if (details == nullptr || !details->is_object()) return {};
  const json::object& object = details->as_object();
  std::string text = text_at(object, "group") + "/" + text_at(object, "kind");
  if (const json::value* causes = object.if_contains("causes")) {
    for (const json::value& cause : causes->as_array()) {
      const json::object& each = cause.as_object();
      text += " [" + text_at(each, "reason") + ", " + text_at(each, "message") + ", " +
              text_at(each, "field") + "]";
    }
  }
  return text + " " + text_at(object, "retryAfterSeconds");
}

// `details` is null where it was not recorded.
std::string failure_text(const std::string& status, const std::string& reason,
                         const std::string& message, const json::value* details,
                         const std::string& retry_after) {
  return status + " " + reason + ": " + message + " | " + details_text(details) + " | " +
         retry_after;
}

// Events one after the other as "ADDED 8, BOOKMARK end 1".
std::string counted(const std::vector<std::string>& events) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& each : events) {
    if (counts.empty() || counts.back().first != each) counts.emplace_back(each, 0);
    ++counts.back().second;
  }
  std::string text;
  for (const auto& [what, count] : counts) {
    text += (text.empty() ? "" : ", ") + what + " " + std::to_string(count);
  }
  return text.empty() ? "no events" : text;
}

std::string event_name(const std::string& line) {
  const json::value event = json::parse(line);
  std::string type = text_in(event, {"type"});
  const json::value& object = event.as_object().at("object");
  if (type == "BOOKMARK") {
    const auto end = text_in(object, {"metadata", "annotations", "k8s.io/initial-events-end"});
    return end == "true" ? "BOOKMARK end" : "BOOKMARK";
  }
  if (type != "ERROR") return type;
  return "ERROR " + text_at(object.as_object(), "code") + " " +
         text_at(object.as_object(), "reason");
}

std::string seconds_text(double seconds) {
  return " after " + std::to_string(static_cast<int>(seconds + 0.5)) + " s";
}

std::string expected_of(const json::object& row) {
  const std::string status = text_at(row, "status");
  const std::string verb = text_at(row, "verb");
  const std::string after =
      verb == "list" ? seconds_text(row.at("seconds").to_number<double>()) : "";
  if (status != "200") {
    return failure_text(status, text_at(row, "reason"), text_at(row, "message"),
                        row.if_contains("details"), text_at(row, "retry_after")) +
           after;
  }
  if (verb == "get") return "200";
  if (verb == "list") {
    return "200 " + text_at(row, "answered_version") + ", " + text_at(row, "items") + " items" +
           (row.at("continue").as_bool() ? " and more" : "") + after;
  }
  std::vector<std::string> events;
  for (const json::value& each : row.at("events").as_array()) {
    const auto count = each.as_array().at(1).to_number<int>();
    for (int at = 0; at < count; ++at) events.emplace_back(each.as_array().at(0).as_string());
  }
  return "200 " + counted(events);
}

std::string version_of(const VersionRow& row, const KnownVersions& versions) {
  if (row.version == "none") return {};
  if (row.version == "0") return "0";
  if (row.version == "old") return versions.old;
  if (row.version == "current") return versions.current;
  if (row.version == "current+1000000") return versions.ahead;
  CHECK(row.version == "not a number");
  return "abc";
}

}  // namespace

std::string VersionRow::target(const std::string& collection, const std::string& name,
                               const KnownVersions& versions) const {
  std::string query = options;
  const auto add = [&query](const std::string& more) {
    query += (query.empty() ? "" : "&") + more;
  };
  if (verb == "watch") add("watch=true&timeoutSeconds=1");
  const std::string asked = version_of(*this, versions);
  if (!asked.empty()) add("resourceVersion=" + asked);
  return collection + (verb == "get" ? "/" + name : "") + (query.empty() ? "" : "?" + query);
}

std::vector<VersionRow> load_version_rows() {
  const std::string path = HOLDFAST_SOURCE_ROOT "/test/data/apiserver/resource_versions.json";
  const std::string bytes = fs::read_all(path, 1UL << 20).value();
  const json::value table = json::parse(bytes);
  std::vector<VersionRow> rows;
  for (const json::value& each : table.as_array()) {
    const json::object& row = each.as_object();
    VersionRow made{.verb = text_at(row, "verb"), .version = text_at(row, "resourceVersion")};
    for (const char* name :
         {"resourceVersionMatch", "limit", "sendInitialEvents", "allowWatchBookmarks"}) {
      const std::string value = text_at(row, name);
      if (value.empty()) continue;
      made.options += (made.options.empty() ? "" : "&") + std::string(name) + "=" + value;
    }
    made.expected = expected_of(row);
    rows.push_back(std::move(made));
  }
  return rows;
}

std::string describe_answer(const VersionRow& row, const http::Response& answer,
                            const std::vector<std::string>& lines, Duration took,
                            const KnownVersions& versions) {
  const std::string status = std::to_string(answer.status);
  const std::string after =
      row.verb == "list" ? seconds_text(std::chrono::duration<double>(took).count()) : "";
  if (answer.status != 200) {
    const json::value body = json::parse(answer.body);
    const json::object& object = body.as_object();
    std::string message = text_at(object, "message");
    replace_each(message, versions.ahead, "AHEAD");
    if (message.ends_with(": " + versions.old)) {
      message.replace(message.size() - versions.old.size(), versions.old.size(), "OLD");
    }
    // The server may have gone on meanwhile.
    const std::string_view current = "current: ";
    const std::size_t at = message.find(current);
    if (at != std::string::npos) message.replace(at + current.size(), message.size(), "CURRENT");
    const bool has_details = row.expected.find(" |  | ") == std::string::npos;
    return failure_text(status, text_at(object, "reason"), message,
                        has_details ? object.if_contains("details") : nullptr,
                        std::string(answer.headers.get("retry-after"))) +
           after;
  }
  if (row.verb == "get") return status;
  if (row.verb == "watch") {
    std::vector<std::string> events;
    for (const std::string& line : lines) events.push_back(event_name(line));
    return status + " " + counted(events);
  }
  const json::value list = json::parse(answer.body);
  const std::string version = text_in(list, {"metadata", "resourceVersion"});
  const bool is_asked = row.version == "old" && version == versions.old;
  const bool is_current = parse_int<std::int64_t>(version).value_or(0) >=
                          parse_int<std::int64_t>(versions.current).value_or(0);
  const bool has_more = !text_in(list, {"metadata", "continue"}).empty();
  return status + " " +
         (is_asked     ? "the one asked for"
          : is_current ? "current or newer"
                       : "older: " + version) +
         ", " + std::to_string(list.as_object().at("items").as_array().size()) + " items" +
         (has_more ? " and more" : "") + after;
}

}  // namespace holdfast::test
