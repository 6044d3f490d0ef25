// Rates, sizes and fractions as people write them: "2Mbit/s", "64KiB/s", "512KiB", "2%".

#pragma once

#include <cstdint>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent::lab {

// Bytes per second, at least 1. Units: bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, KiB/s,
// MiB/s. Errors: invalid, quoting the text (also above 1 TB/s).
[[nodiscard]] Result<std::int64_t> parse_link_rate(std::string_view text);

// Bytes. Units: B, kB, MB, GB, KiB, MiB, GiB; without a unit bytes. Errors: invalid, quoting the
// text (also above 1 PB).
[[nodiscard]] Result<std::int64_t> parse_byte_size(std::string_view text);

// "0.02" or "2%". Errors: invalid, quoting the text (also if it is not a finite number).
[[nodiscard]] Result<double> parse_fraction(std::string_view text);

// A finite number: "12", "0.5", "1e3". Errors: invalid, quoting the text.
[[nodiscard]] Result<double> parse_number(std::string_view text);

}  // namespace holdfast::agent::lab
