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

// Errors: denied (not a regular file, not root's or ours, or others may write to it), exhausted
// (over 1 MiB), invalid naming file and line (not YAML, not a map of words, a key twice), and those
// of fs::read_all().
[[nodiscard]] Result<std::vector<FileEntry>> read_yaml_file(const std::string& path);

}  // namespace holdfast::config
