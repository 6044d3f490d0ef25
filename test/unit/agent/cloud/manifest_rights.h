// The rights that the files of cross/k8s grant.

#pragma once

#include <yaml-cpp/yaml.h>

#include <compare>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace holdfast::agent {

// A right, or the right that a request needs. In a right, an empty namespace or name means all.
struct Right {
  std::string verb;
  std::string group;
  std::string resource;  // "pods/status"
  std::string namespace_name = {};
  std::string name = {};

  auto operator<=>(const Right&) const = default;
  [[nodiscard]] bool allows(const Right& asked) const {
    return verb == asked.verb && group == asked.group && resource == asked.resource &&
           (namespace_name.empty() || namespace_name == asked.namespace_name) &&
           (name.empty() || name == asked.name);
  }
  [[nodiscard]] std::string text() const {
    return verb + " " + resource + "." + group + " in \"" + namespace_name + "\" named \"" + name +
           "\"";
  }
};

// Adds the rights of all roles in the file to `rights`.
inline void add_rights_of(const std::string& file, std::set<Right>& rights) {
  for (const YAML::Node& role : YAML::LoadAllFromFile(file)) {
    const std::string kind = role["kind"].as<std::string>();
    if (kind != "ClusterRole" && kind != "Role") continue;
    const std::string space =
        kind == "Role" ? role["metadata"]["namespace"].as<std::string>() : std::string();
    for (const YAML::Node& rule : role["rules"]) {
      std::vector<std::string> names{""};
      if (rule["resourceNames"]) names = rule["resourceNames"].as<std::vector<std::string>>();
      for (const auto& group : rule["apiGroups"].as<std::vector<std::string>>()) {
        for (const auto& resource : rule["resources"].as<std::vector<std::string>>()) {
          for (const auto& verb : rule["verbs"].as<std::vector<std::string>>()) {
            for (const auto& name : names) rights.insert({verb, group, resource, space, name});
          }
        }
      }
    }
  }
}

inline const std::string manifests = std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s";

// The rights of all files, that is, of all features together.
inline std::set<Right> all_rights() {
  std::set<Right> rights;
  for (const auto& file : std::filesystem::directory_iterator(manifests)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("cloud-rbac")) add_rights_of(file.path().string(), rights);
  }
  return rights;
}

}  // namespace holdfast::agent
