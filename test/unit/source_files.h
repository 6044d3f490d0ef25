// The sources as the tests of the architecture read them.

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tidy {

namespace fs = std::filesystem;

inline const fs::path root = HOLDFAST_SOURCE_ROOT;

struct SourceFile {
  std::string name;  // relative to the root: "sync/model/types.h"
  std::vector<std::string> lines;

  [[nodiscard]] std::string folder() const { return name.substr(0, name.find('/')); }
};

inline std::vector<SourceFile> source_files(const std::vector<std::string>& folders,
                                            const fs::path& from = root) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(from / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      SourceFile file{fs::relative(entry.path(), from).generic_string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  return files;
}

inline const std::vector<std::string> product = {"platform", "store", "sync", "agent"};

// The file that an `#include "..."` line names, or nullopt.
inline std::optional<std::string> included(const std::string& line) {
  constexpr std::string_view start = "#include \"";
  if (!line.starts_with(start)) return std::nullopt;
  return line.substr(start.size(), line.find('"', start.size()) - start.size());
}

}  // namespace holdfast::tidy
