// The options of a container's log, as `kubectl logs` sends them (PodLogOptions).

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "platform/query.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/wire/field_error.h"

namespace holdfast::sync::node {

struct LogOptions {
  bool follow = false;      // continue with what is written later, until the container ends
  bool previous = false;    // the log of the run before the current one
  bool timestamps = false;  // each line begins with the time at which it was written
  std::optional<std::int64_t> since_seconds = {};
  std::optional<WallTime> since_time = {};
  std::optional<std::int64_t> tail_lines = {};  // only so many of the last lines
  std::optional<std::int64_t> limit_bytes = {};

  bool operator==(const LogOptions&) const = default;

  // The time before which lines are left out.
  [[nodiscard]] std::optional<WallTime> since(WallTime now) const;
};

// Reads the options. Errors: invalid, in upstream's words if an option is not a number.
[[nodiscard]] Result<LogOptions> parse_log_options(const Query& query);

// What upstream's validation says about impossible values.
[[nodiscard]] wire::FieldErrors check_log_options(const LogOptions& options);

}  // namespace holdfast::sync::node
