// The commands that read results: `holdfast-lab report` and `holdfast-lab compare`; and how a run
// shows its own.

#pragma once

#include <string>

#include "agent/lab/result/result.h"
#include "platform/config/options.h"

namespace holdfast::agent::lab {

struct ReportSettings {
  std::string result;  // the file to read
  std::string report;  // the HTML file to write; empty: print the table
  std::string output;  // "json" or ""
};

struct CompareSettings {
  std::string a;
  std::string b;
  std::string output;  // "json" or ""
};

// Begin the subcommands "report" and "compare".
void add_report_command(config::Options& options, ReportSettings& settings);
void add_compare_command(config::Options& options, CompareSettings& settings);

// Print to standard output. Errors: invalid for a bad flag or a file that is no result; those of
// reading and writing files.
[[nodiscard]] Status run_report(const ReportSettings& settings);
[[nodiscard]] Status run_compare(const CompareSettings& settings);

// For commands that produce a result: writes the HTML report if `report` names a file, and prints
// the table, or the JSON if `output` is "json". Errors as above.
[[nodiscard]] Status show_result(const RunResult& result, const std::string& report,
                                 const std::string& output);

}  // namespace holdfast::agent::lab
