#include "agent/lab/result/command.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "agent/lab/result/compare.h"
#include "agent/lab/result/json.h"
#include "agent/lab/result/report.h"
#include "agent/lab/result/table.h"
#include "platform/fs/file.h"

namespace holdfast::agent::lab {
namespace {

constexpr mode_t report_mode = 0644;  // to be shown to others

Status print_all(const std::string& text) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written) return fail(Errc::unavailable, "standard output cannot be written");
  return {};
}

Palette palette_of_output() { return {.has_colour = ::isatty(STDOUT_FILENO) == 1}; }

Status check_output(const std::string& output) {
  if (output.empty() || output == "json") return {};
  return fail(Errc::invalid, "--output: \"" + output + "\" is not json");
}

Status write_report(const RunResult& result, const std::string& report) {
  const std::filesystem::path file = std::filesystem::absolute(report);
  if (const Status made = fs::ensure_dir(file.parent_path(), 0755); !made) return made;
  return fs::atomic_write(file, report_page(result), report_mode);
}

}  // namespace

void add_report_command(config::Options& options, ReportSettings& settings) {
  options.begin_command("report", "show the result of a run: as a table or as an HTML page");
  options.add_positional("RESULT", settings.result, "the JSON file of the result");
  options.add("report", settings.report, "HTML file to write; empty: print a table");
  options.add("output", settings.output, "json: print the result as JSON instead of a table");
}

void add_compare_command(config::Options& options, CompareSettings& settings) {
  options.begin_command("compare", "show what differs between the results of two runs");
  options.add_positional("A", settings.a, "the JSON file of the first result");
  options.add_positional("B", settings.b, "the JSON file of the second result");
  options.add("output", settings.output, "json: print JSON instead of a table");
}

Status show_result(const RunResult& result, const std::string& report, const std::string& output) {
  if (const Status checked = check_output(output); !checked) return checked;
  if (!report.empty()) {
    if (const Status written = write_report(result, report); !written) return written;
  }
  return print_all(output == "json" ? result_to_json(result)
                                    : result_table(result, palette_of_output()));
}

Status run_report(const ReportSettings& settings) {
  if (const Status checked = check_output(settings.output); !checked) return checked;
  TRY(const RunResult result, read_result(settings.result));
  const bool is_quiet = !settings.report.empty() && settings.output.empty();
  return is_quiet ? write_report(result, settings.report)
                  : show_result(result, settings.report, settings.output);
}

Status run_compare(const CompareSettings& settings) {
  if (const Status checked = check_output(settings.output); !checked) return checked;
  TRY(const RunResult a, read_result(settings.a));
  TRY(const RunResult b, read_result(settings.b));
  const Comparison comparison = compare(a, b);
  return print_all(settings.output == "json" ? comparison_json(comparison)
                                             : comparison_table(comparison, palette_of_output()));
}

}  // namespace holdfast::agent::lab
