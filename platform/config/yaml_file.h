// A flat YAML file: names with a word or a list of words each, and where they stand.

#pragma once

#include <string>
#include <vector>

#include "platform/result.h"

namespace holdfast::config {

struct FileEntry {
  std::string key;
  std::vector<std::string> values;  // one, unless the file has a list
  int line = 0;                     // from 1
};

// Errors: not_found (cannot read), denied (not a regular file, or everybody may write to it),
// invalid naming file and line (not YAML, not a map of words, a key twice).
[[nodiscard]] Result<std::vector<FileEntry>> read_yaml_file(const std::string& path);

}  // namespace holdfast::config
