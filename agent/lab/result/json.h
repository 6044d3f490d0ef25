// A result as JSON: what `-o json` prints, and what `report` and `compare` read.
//
// {"kind":"RunResult","version":1,"scenario":"two sites",...,"duration":"2h0m0s",...}
//
// Names are those of result.h in camelCase. Durations are strings in Go's format, which are exact.
// Absent optional values are left out. The same result gives the same bytes.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "agent/lab/result/result.h"
#include "platform/result.h"

namespace holdfast::agent::lab {

inline constexpr std::size_t result_bytes_max = 256UL << 20;

// One line with a line end. Numbers that JSON lacks (infinity, NaN) are written as 0.
[[nodiscard]] std::string result_to_json(const RunResult& result);

// Unknown fields are ignored, so that a result of a newer version can be read; missing ones keep
// their defaults. Errors: invalid, naming the path ("nodes[3].link[0].begin: ..."); exhausted.
[[nodiscard]] Result<RunResult> result_from_json(std::string_view text);

// Reads a result from a file. Errors: those of read_all() and of result_from_json(), naming the
// file.
[[nodiscard]] Result<RunResult> read_result(const std::filesystem::path& file);

}  // namespace holdfast::agent::lab
