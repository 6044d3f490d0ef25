// Counts the requests in an API server's audit log, by class and over time.

#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/lab/result/result.h"
#include "platform/result.h"

namespace holdfast::agent::lab::run {

// The class of a request, as RequestClass::name, from the fields of its audit event.
[[nodiscard]] std::string_view class_of(std::string_view verb, std::string_view resource,
                                        std::string_view subresource);

struct RequestCounts {
  std::vector<RequestClass> classes;
  std::uint64_t most_per_second = 0;  // from `counted_from` on
  Series over_time;                   // "requests", per counting_interval()
};

// How the times of the log become those of the scenario.
struct LogTimes {
  WallTime begin{};  // of the scenario; requests before it are not counted
  int speed = 1;
  Duration counted_from{};  // in the scenario's time: where most_per_second begins to count
  Duration length{};        // of the scenario
};

// Reads the whole log. Requests of the lab itself are not counted, nor lines that are no audit
// events. Errors: not_found, denied.
[[nodiscard]] Result<RequestCounts> count_requests(const std::filesystem::path& log,
                                                   const LogTimes& times);

}  // namespace holdfast::agent::lab::run
