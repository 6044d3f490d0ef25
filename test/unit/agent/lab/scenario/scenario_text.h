// Texts of scenarios for tests: a small one that is right, and parts to put into it.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/lab/scenario/scenario_file.h"

namespace holdfast::agent::lab {

// Files that stand beside the scenario.
using FilesBeside = std::map<std::string, std::string>;

inline Result<Scenario> parse_text(const std::string& text,
                                   const std::vector<std::string>& overrides = {},
                                   const FilesBeside& files = {},
                                   const ScenarioLimits& limits = {}) {
  const OpenBeside open = [&files](const std::string& name) -> Result<FileBeside> {
    const auto found = files.find(name);
    if (found == files.end()) return fail(Errc::not_found, "there is no file \"" + name + "\"");
    return FileBeside{"/beside/" + name, found->second};
  };
  return parse_scenario("s.yaml", text, overrides, open, limits);
}

// The complete text of the error, or "" if there is none.
inline std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {},
                            const FilesBeside& files = {}, const ScenarioLimits& limits = {}) {
  const auto parsed = parse_text(text, overrides, files, limits);
  return parsed ? std::string() : parsed.error().what;
}

// Four lines that are right; `more` begins in line 5.
inline std::string with_base(const std::string& more) {
  return "name: test\n"
         "duration: 1h\n"
         "fleet: {sites: [{name: a, nodes: 2}, {name: b, agent: none}]}\n"
         "workloads: [{deployment: web}, {daemonset: probe}, {job: count, run-time: 1m}]\n" +
         more;
}

}  // namespace holdfast::agent::lab
