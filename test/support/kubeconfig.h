// Kubeconfigs for tests and benchmarks.

#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace holdfast::test {

// Writes a kubeconfig with one context. `cluster` and `user` are YAML: further members of the
// cluster, as in "certificate-authority: ca.crt", and all members of the user. Returns the path.
inline std::string write_kubeconfig(const std::filesystem::path& file, const std::string& server,
                                    const std::string& cluster = "", const std::string& user = "") {
  std::ofstream(file) << "current-context: c\n"
                      << "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                      << "clusters: [{name: c, cluster: {server: \"" << server << "\""
                      << (cluster.empty() ? "" : ", ") << cluster << "}}]\n"
                      << "users: [{name: u, user: {" << user << "}}]\n";
  return file.string();
}

}  // namespace holdfast::test
