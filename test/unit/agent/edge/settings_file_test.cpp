// The settings file in the package: it documents exactly the settings that the agent has.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "agent/edge/options/options.h"
#include "platform/fs/file.h"
#include "platform/text.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

const std::string packaged = HOLDFAST_SOURCE_ROOT "/cross/package/edge.yaml";

// Settings without a default, or with an empty one: the file shows examples for them.
const std::set<std::string> examples = {"node-name",
                                        "kubeconfig",
                                        "bootstrap-kubeconfig",
                                        "join-token",
                                        "join-token-file",
                                        "ca-file",
                                        "discovery-token-ca-cert-hash",
                                        "server",
                                        "serving-names",
                                        "dummy-if-ip",
                                        "cache-key-file",
                                        "uplink-budget",
                                        "disabled-resource-filters",
                                        "nodepool-name"};
// The settings in the file, also those that are commented out, by key.
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> lines;
  std::ifstream in(packaged);
  for (std::string line; std::getline(in, line);) {
    if (line.size() < 2 || line[0] != '#' || !is_lower(line[1])) continue;
    lines[line.substr(1, line.find(':') - 1)] = line.substr(1);
  }
  return lines;
}

struct FileOutcome {
  EdgeOptions settings;
  std::string problem;
};

FileOutcome read_file(const std::string& path) {
  FileOutcome outcome;
  config::Options options("holdfast-edge", "");
  add_options(options, outcome.settings);
  const std::vector<const char*> words = {"holdfast-edge", "--config", path.c_str()};
  const auto parsed = options.parse(static_cast<int>(words.size()), words.data());
  if (!parsed) outcome.problem = parsed.error().what;
  return outcome;
}

FileOutcome read_text(const std::string& text) {
  const test::ScratchDir dir;
  const std::string path = dir.path() / "edge.yaml";
  EXPECT_TRUE(fs::atomic_write(path, text, 0644));
  return read_file(path);
}

// Copies the file's text to a file that this user owns: the source tree may be another user's.
FileOutcome read_packaged() {
  std::ifstream in(packaged);
  return read_text(std::string(std::istreambuf_iterator<char>(in), {}));
}

// The help text: every flag with its value in `settings`.
std::string help(EdgeOptions settings) {
  config::Options options("holdfast-edge", "");
  add_options(options, settings);
  const std::vector<const char*> words = {"holdfast-edge", "--help"};
  return options.parse(static_cast<int>(words.size()), words.data()).value().to_print;
}

TEST(SettingsFile, AsItIsShippedItAsksForTheNodesName) {
  const FileOutcome outcome = read_packaged();
  EXPECT_EQ(outcome.problem, "");
  const Status checked = check(outcome.settings);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().what, "--node-name is required");
}

// Without TLS, callers would send their tokens to the proxy unencrypted.
TEST(SettingsFile, AProxyForTheNetworkMustBeAskedForTwice) {
  const struct {
    const char* listen;
    bool allow;
    bool good;
  } rows[] = {{"127.0.0.1:10261", false, true}, {"127.9.9.9:0", false, true},
              {"[::1]:10261", false, true},     {"0.0.0.0:10261", false, false},
              {"10.0.0.1:10261", false, false}, {"[::]:10261", false, false},
              {"0.0.0.0:10261", true, true},    {"127.0.0.1:10261", true, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.listen);
    EdgeOptions settings;
    settings.node_name = "a";
    settings.identity.kubeconfig = "k";
    settings.listen = row.listen;
    settings.allow_insecure_bind = row.allow;
    const Status checked = check(settings);
    EXPECT_EQ(checked.has_value(), row.good) << (checked ? "" : checked.error().what);
    if (checked) continue;
    EXPECT_NE(checked.error().what.find("--allow-insecure-bind"), std::string::npos);
  }
}

TEST(SettingsFile, EveryExampleCanBeUsedAsItStands) {
  for (const auto& [key, line] : documented()) EXPECT_EQ(read_text(line).problem, "") << line;
}

TEST(SettingsFile, WhatItCallsADefaultIsOne) {
  std::string defaults;
  for (const auto& [key, line] : documented()) {
    if (!examples.contains(key)) defaults += line + "\n";
  }
  const FileOutcome outcome = read_text(defaults);
  EXPECT_EQ(outcome.problem, "");
  EXPECT_EQ(help(outcome.settings), help(EdgeOptions{}));
}

TEST(SettingsFile, TheReadmeNamesItsDefaults) {
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/README.md");
  std::string text;
  for (std::string word; in >> word;) text += word + " ";
  const EdgeOptions defaults;
  const auto mebibytes = [](std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  std::string agents = "By default these are ";
  for (const std::string& agent : defaults.cache_agents) {
    if (agent == defaults.cache_agents.back()) agents.replace(agents.size() - 2, 2, " and ");
    agents += agent + ", ";
  }
  agents.replace(agents.size() - 2, 2, ";");
  const std::string promised[] = {
      agents,
      "`--list-bytes-max` (" + mebibytes(defaults.list_bytes_max) + ",",
      "`--cache-memory-max` (" + mebibytes(defaults.cache_memory_max) + ")",
      "`--cache-disk-max` (" + mebibytes(defaults.cache_disk_max) + ")",
      "`--scopes-max` (" + std::to_string(defaults.scopes_max) + " lists)",
      "`--secure-listen` (by default `" + defaults.identity.secure_listen + "`)",
  };
  for (const std::string& words : promised) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }
}

TEST(SettingsFile, NoSettingIsMissing) {
  std::set<std::string> shown;
  for (const auto& [key, line] : documented()) shown.insert(key);
  std::set<std::string> flags;
  std::istringstream words(help(EdgeOptions{}));
  for (std::string word; words >> word;) {
    if (word.starts_with("--")) flags.insert(word.substr(2, word.find_first_of(",=:;", 2) - 2));
  }
  for (const char* ours : {"help", "version", "config"}) flags.erase(ours);
  std::set<std::string> missing;
  std::set_difference(flags.begin(), flags.end(), shown.begin(), shown.end(),
                      std::inserter(missing, missing.end()));
  EXPECT_EQ(join({missing.begin(), missing.end()}, " "), "");
}

// The unit needs the capabilities for the agent's checks, and a memory limit that protects the
// node's pods from hostile callers.
TEST(SettingsFile, TheUnitGrantsWhatTheAgentNeedsAndNoMore) {
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/cross/package/holdfast-edge.service");
  const std::set<std::string> lines = [&in] {
    std::set<std::string> read;
    for (std::string line; std::getline(in, line);) read.insert(line);
    return read;
  }();
  for (const char* wanted :
       {"CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH", "AmbientCapabilities=",
        "ProtectProc=default", "ProtectControlGroups=yes", "MemoryHigh=96M", "MemoryMax=128M",
        "TasksMax=64", "UMask=0077", "StateDirectoryMode=0700", "StateDirectory=holdfast",
        "ProtectSystem=strict", "PrivateTmp=yes", "NoNewPrivileges=yes"}) {
    EXPECT_TRUE(lines.contains(wanted)) << wanted;
  }
  for (const std::string& line : lines) {
    EXPECT_FALSE(line.starts_with("ReadWritePaths=")) << line;
    EXPECT_EQ(line.find("join-token"), std::string::npos) << "visible in ps: " << line;
  }
}

TEST(EdgeOptions, FlagsOfTheProcessRuntimeNameHoldfastNode) {
  for (const char* flag : {"--runtime=process", "--status-interval=1s", "--node-labels=a=b"}) {
    EdgeOptions settings;
    config::Options options("holdfast-edge", "");
    add_options(options, settings);
    const std::vector<const char*> words = {"holdfast-edge", flag};
    const auto parsed = options.parse(static_cast<int>(words.size()), words.data());
    ASSERT_FALSE(parsed.has_value()) << flag;
    EXPECT_NE(parsed.error().what.find("start holdfast-node"), std::string::npos)
        << parsed.error().what;
  }
  const std::string problem = read_text("runtime: process\n").problem;
  EXPECT_NE(problem.find("start holdfast-node"), std::string::npos) << problem;
  EXPECT_EQ(help(EdgeOptions{}).find("--runtime"), std::string::npos);
}

TEST(EdgeOptions, PathsAreMadeAbsoluteOnce) {
  const std::string here = std::filesystem::current_path().string();
  EdgeOptions options;
  options.data_dir = "./edge";
  options.static_pod_path = "/etc/kubernetes/manifests";
  options.identity.kubeconfig = "../config";
  ASSERT_TRUE(make_paths_absolute(options));
  EXPECT_EQ(options.data_dir, here + "/edge");
  EXPECT_EQ(options.static_pod_path, "/etc/kubernetes/manifests");
  EXPECT_EQ(options.identity.kubeconfig,
            std::filesystem::path(here + "/../config").lexically_normal().string());
  EXPECT_EQ(options.identity.ca_file, "") << "a path that was not given stays empty";
  EXPECT_EQ(options.node_token_file, "");
  const EdgeOptions before = options;
  ASSERT_TRUE(make_paths_absolute(options));
  EXPECT_EQ(options.data_dir, before.data_dir);
}

}  // namespace
}  // namespace holdfast::agent
