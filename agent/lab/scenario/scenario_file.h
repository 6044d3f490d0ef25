// Reads a scenario from YAML. README.md has the schema.
//
// Errors name everything that is wrong (at most 20 places), one in each line:
//   site.yaml:7:11: fleet.sites[1].link: unknown profile "5g"; did you mean "4g"?
//   --set duration=soon: duration: not a duration like 47m or 1h30m: "soon"

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/scenario/scenario.h"
#include "agent/lab/scenario/sections.h"
#include "platform/result.h"

namespace holdfast::agent::lab {

// Reads a file, changed by overrides ("key=value", see override.h). Other files that it names must
// lie below its folder. Errors: invalid as above; not_found, denied or exhausted (the file itself).
[[nodiscard]] Result<Scenario> read_scenario(const std::string& path,
                                             const std::vector<std::string>& overrides = {});

// The same for a text. `name` stands for the file in errors; `open` reads the files that the
// scenario names.
[[nodiscard]] Result<Scenario> parse_scenario(const std::string& name, const std::string& text,
                                              const std::vector<std::string>& overrides,
                                              const OpenBeside& open,
                                              const ScenarioLimits& limits = {});

}  // namespace holdfast::agent::lab
