#include "platform/config/yaml_file.h"

#include <yaml-cpp/yaml.h>

#include <set>

#include "platform/fs/ownership.h"

namespace holdfast::config {
namespace {

constexpr std::size_t file_limit = 1U << 20;

std::string place(const std::string& path, const YAML::Mark& mark) {
  return path + ":" + std::to_string(mark.line + 1);
}

Result<FileEntry> read_entry(const std::string& path, const YAML::Node& key,
                             const YAML::Node& value) {
  FileEntry entry{.key = key.Scalar(), .values = {}, .line = key.Mark().line + 1};
  if (value.IsScalar()) {
    entry.values.push_back(value.Scalar());
    return entry;
  }
  for (const YAML::Node& item : value) {
    if (!value.IsSequence() || !item.IsScalar()) {
      return fail(Errc::invalid, place(path, value.Mark()) + ": " + entry.key +
                                     " must be a word or a list of words");
    }
    entry.values.push_back(item.Scalar());
  }
  return entry;
}

Result<std::vector<FileEntry>> read_entries(const std::string& path) {
  // A user who may write to this file decides what the program does.
  TRY(const std::string content, fs::read_trusted(path, file_limit));
  const YAML::Node root = YAML::Load(content);
  std::vector<FileEntry> entries;
  if (root.IsNull()) return entries;
  if (!root.IsMap()) return fail(Errc::invalid, path + ": not a map of names to values");
  std::set<std::string> seen;
  for (const auto& pair : root) {
    TRY(FileEntry entry, read_entry(path, pair.first, pair.second));
    if (!seen.insert(entry.key).second) {
      return fail(Errc::invalid,
                  place(path, pair.first.Mark()) + ": " + entry.key + " stands twice");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

Result<std::vector<FileEntry>> read_yaml_file(const std::string& path) {
  try {
    return read_entries(path);
  } catch (const YAML::Exception& error) {
    return fail(Errc::invalid, place(path, error.mark) + ": " + error.msg);
  }
}

}  // namespace holdfast::config
