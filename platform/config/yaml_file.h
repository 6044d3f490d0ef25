// Reads a flat YAML file: each key has one word or a list of words. Line numbers are kept for error
// messages.

#pragma once

#include <string>
#include <vector>

#include "platform/result.h"

namespace holdfast::config {

struct FileEntry {
  std::string key;
  std::vector<std::string> values;  // one word, or the words of a list
  int line = 0;                     // of the key, counted from 1
};

// Errors: denied (not a regular file, owned by a user other than root and us, or writable by
// others), exhausted (over 1 MiB), invalid with file and line (not YAML, not a map of words, a
// duplicate key), and those of fs::read_all().
[[nodiscard]] Result<std::vector<FileEntry>> read_yaml_file(const std::string& path);

}  // namespace holdfast::config
