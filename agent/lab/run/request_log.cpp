#include "agent/lab/run/request_log.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "agent/lab/result/summary.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::run {
namespace {

namespace json = sync::json;

constexpr std::string_view own_agent = "holdfast-lab";

std::string_view text_at(const json::object& from, std::string_view key) {
  const json::value* found = from.if_contains(key);
  const json::string* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

struct LoggedRequest {
  WallTime received{};
  std::string_view kind;
};

std::optional<LoggedRequest> read_line(const std::string& line) {
  const auto parsed = sync::wire::parse_json(line);
  const json::object* event = parsed ? parsed->if_object() : nullptr;
  if (event == nullptr || text_at(*event, "stage") != "ResponseComplete") return std::nullopt;
  if (text_at(*event, "userAgent").starts_with(own_agent)) return std::nullopt;
  const auto received = parse_rfc3339(text_at(*event, "requestReceivedTimestamp"));
  if (!received) return std::nullopt;
  const json::value* reference = event->if_contains("objectRef");
  const json::object* about = reference == nullptr ? nullptr : reference->if_object();
  if (about == nullptr) return LoggedRequest{*received, "other"};
  return LoggedRequest{*received, class_of(text_at(*event, "verb"), text_at(*about, "resource"),
                                           text_at(*about, "subresource"))};
}

}  // namespace

std::string_view class_of(std::string_view verb, std::string_view resource,
                          std::string_view subresource) {
  const bool reads = verb == "get" || verb == "list";
  if (verb == "watch") return "watch";
  if (resource == "leases") return "lease";
  if (verb == "list") return "list";
  if (resource == "events") return "event";
  if (subresource == "binding") return "bind";
  if (subresource == "eviction" || verb == "delete") return "delete";
  if (reads) return "other";
  if (resource == "nodes") return subresource == "status" ? "node status" : "taint";
  if (resource == "pods" && subresource == "status") return "pod status";
  return "other";
}

Result<RequestCounts> count_requests(const std::filesystem::path& log, const LogTimes& times) {
  std::ifstream file(log);
  if (!file) return fail(Errc::not_found, "audit log " + log.string() + " cannot be read");
  std::map<std::string_view, std::uint64_t> classes;
  std::map<std::int64_t, std::uint64_t> seconds;
  RequestCounts counts;
  const Duration interval = counting_interval(times.length);
  counts.over_time = {"requests", interval, {}};
  auto& values = counts.over_time.values;
  for (std::string line; std::getline(file, line);) {
    const auto request = read_line(line);
    if (!request) continue;
    const Duration at = (request->received - times.begin) * times.speed;
    if (at < Duration::zero() || at > times.length) continue;
    ++classes[request->kind];
    const auto index = static_cast<std::size_t>(at / interval);
    if (values.size() <= index) values.resize(index + 1);
    ++values[index];
    if (at >= times.counted_from) ++seconds[at / std::chrono::seconds(1)];
  }
  for (const auto& [kind, count] : classes) {
    counts.classes.push_back({std::string(kind), count, 0});
  }
  for (const auto& [second, count] : seconds) {
    counts.most_per_second = std::max(counts.most_per_second, count);
  }
  return counts;
}

}  // namespace holdfast::agent::lab::run
