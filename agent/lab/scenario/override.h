// Overrides of a scenario: `--set key=value`.
//
// The key is a path: "duration", "cloud.node-monitor-grace-period", "fleet.sites.a.nodes",
// "events[0].for". An entry of a list has a number in brackets, or is named by its `name` or, of a
// workload, by the value of its kind. A key with dots is quoted: labels."example.com/role". The
// value is YAML. A key that the file does not have is added.

#pragma once

#include <string>

#include "agent/lab/scenario/yaml_tree.h"

namespace holdfast::agent::lab {

// Changes the tree as `text` says, "key=value". What is wrong is added to `problems`; then the tree
// is unchanged. Whether the key and the value make sense is checked when the tree is read.
void apply_override(YamlNode& root, const std::string& text, ScenarioProblems& problems);

}  // namespace holdfast::agent::lab
