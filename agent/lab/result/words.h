// Formats numbers, durations and names for people: the terminal table, the report and `compare`.
// Pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/time.h"

namespace holdfast::agent::lab {

// "1 pod", "2 pods", "3 processes".
[[nodiscard]] std::string plural(std::size_t count, const std::string& noun);

// At most two units: "0s", "300ms", "9.5s", "47m", "1h30m", "2d4h". Smaller units are truncated.
[[nodiscard]] std::string brief(Duration duration);

// "512 B", "1.5 KiB", "3.2 MiB"; one decimal.
[[nodiscard]] std::string brief_bytes(std::uint64_t bytes);
// The same, with "-" for 0: a class of requests whose bytes were not counted.
[[nodiscard]] std::string counted_bytes(std::uint64_t bytes);

// Two decimals at most: "0", "<0.01", "0.25", "3.1", "1234".
[[nodiscard]] std::string brief_number(double number);

// At most `bytes` bytes of `text`, cut between two characters and then followed by "...".
[[nodiscard]] std::string clip(std::string_view text, std::size_t bytes);

}  // namespace holdfast::agent::lab
