#include "agent/lab/scenario/configuration.h"

#include <algorithm>
#include <set>

#include "agent/cloud/settings.h"
#include "agent/lab/scenario/sections.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

// Flags that the lab sets itself for every process: who it is, where it listens, and which files it
// uses. A scenario that could set them could write to any file.
const std::set<std::string, std::less<>>& flags_of_the_lab() {
  static const std::set<std::string, std::less<>> names = {"allow-insecure-bind",
                                                           "bind-address",
                                                           "bootstrap-kubeconfig",
                                                           "ca-file",
                                                           "cache-key-file",
                                                           "context",
                                                           "data-dir",
                                                           "discovery-token-ca-cert-hash",
                                                           "dummy-if-ip",
                                                           "dummy-if-name",
                                                           "enable-dummy-if",
                                                           "join-token",
                                                           "join-token-file",
                                                           "kubeconfig",
                                                           "listen",
                                                           "admin-listen",
                                                           "node-name",
                                                           "node-token-file",
                                                           "secure-listen",
                                                           "secure-port",
                                                           "server",
                                                           "serving-names",
                                                           "static-pod-path",
                                                           "tls-cert-file",
                                                           "tls-private-key-file"};
  return names;
}

// Flags whose value is a file beside the scenario.
constexpr std::string_view file_flag = "scheduler-config";

// The settings that the lab gives to every edge agent, as far as the checks need them.
EdgeOptions edge_placeholders() {
  EdgeOptions edge;
  edge.node_name = "node";
  edge.identity.kubeconfig = "kubeconfig";
  return edge;
}

using FlagMap = std::map<std::string, std::string>;

// Errors: invalid, naming the flag.
Status apply(config::Options& options, const FlagMap& flags) {
  for (const auto& [name, value] : flags) {
    if (const Status set = options.set(name, {value}); !set) {
      return fail("--" + name, set.error());
    }
  }
  return {};
}

Result<CloudPlan> cloud_plan(const FlagMap& flags) {
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  if (const Status set = apply(options, flags); !set) return fail(set.error());
  return plan_of(settings);
}

Result<EdgeOptions> edge_options(const FlagMap& flags) {
  EdgeOptions settings = edge_placeholders();
  config::Options options("holdfast-edge", "");
  add_options(options, settings);
  if (const Status set = apply(options, flags); !set) return fail(set.error());
  if (const Status good = check(settings); !good) return fail(good.error());
  return settings;
}

// Reads the section of one program: each flag's name and value.
class FlagReader {
 public:
  FlagReader(SectionReader& reader, config::Options& options, std::string_view program)
      : reader_(reader), options_(options), program_(program), names_(options.names()) {}

  FlagMap read(const YamlItem& item) {
    FlagMap flags;
    reader_.fields.entries(item, [this, &flags](const YamlEntry& entry, const YamlItem& value) {
      read_flag(entry, value, flags);
    });
    return flags;
  }

 private:
  void read_flag(const YamlEntry& entry, const YamlItem& value, FlagMap& flags) {
    ScenarioProblems& problems = reader_.fields.problems();
    const bool is_known = std::find(names_.begin(), names_.end(), entry.key) != names_.end();
    if (!is_known) {
      const std::vector<std::string_view> known(names_.begin(), names_.end());
      const Status retired = options_.set(entry.key, {});
      const bool was_known = !retired && retired.error().code != Errc::not_found;
      return problems.add(
          entry.place, value.path,
          was_known ? retired.error().what
                    : "unknown flag of " + std::string(program_) + problems.hint(entry.key, known));
    }
    if (flags_of_the_lab().contains(entry.key)) {
      return problems.add(entry.place, value.path, "is set by the lab itself");
    }
    auto words = words_of(value);
    if (words.empty()) return;
    if (entry.key == file_flag) {
      auto file = reader_.open(words.front());
      if (!file) return reader_.fields.wrong(value, file.error().what);
      words = {file->path};
    }
    if (const Status set = options_.set(entry.key, words); !set) {
      return reader_.fields.wrong(value, set.error().what);
    }
    flags[entry.key] = join(words, ",");
  }

  // The value's word, or the words of a list; none, with a problem, for anything else.
  std::vector<std::string> words_of(const YamlItem& value) {
    std::vector<std::string> words;
    if (value.node.kind == YamlNode::Kind::scalar) return {value.node.text};
    if (value.node.kind != YamlNode::Kind::list) {
      (void)reader_.fields.word(value, "a word or a list of words");
      return words;
    }
    reader_.fields.list(value, reader_.limits.entries, [this, &words](const YamlItem& item) {
      if (const std::string* word = reader_.fields.word(item, "a word")) words.push_back(*word);
    });
    return words;
  }

  SectionReader& reader_;
  config::Options& options_;
  std::string_view program_;
  std::vector<std::string> names_;
};

// Adds an error of the program's own checks at the flag that it names first.
void add_complaint(FieldReader& fields, const YamlItem& item, const std::string& what) {
  for (std::size_t at = what.find("--"); at != std::string::npos; at = what.find("--", at + 2)) {
    const std::string_view rest = std::string_view(what).substr(at + 2);
    const std::size_t end = rest.find_first_of(" :,;=");
    const std::string_view name = rest.substr(0, end);
    const YamlNode* node = item.node.find(name);
    if (node == nullptr) continue;
    const std::string prefix = "--" + std::string(name) + ": ";
    const bool repeats = what.starts_with(prefix);
    return fields.wrong({*node, path_of(item.path, name)},
                        repeats ? what.substr(prefix.size()) : what);
  }
  fields.wrong(item, what);
}

}  // namespace

void read_cloud_flags(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  const std::size_t before = reader.fields.problems().count();
  scenario.cloud = FlagReader(reader, options, "holdfast-cloud").read(item);
  if (reader.fields.problems().count() > before) return;
  const auto plan = cloud_plan(scenario.cloud);
  if (!plan) add_complaint(reader.fields, item, plan.error().what);
}

void read_edge_flags(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  EdgeOptions settings = edge_placeholders();
  config::Options options("holdfast-edge", "");
  add_options(options, settings);
  const std::size_t before = reader.fields.problems().count();
  scenario.edge = FlagReader(reader, options, "holdfast-edge").read(item);
  if (reader.fields.problems().count() > before) return;
  const auto checked = edge_options(scenario.edge);
  if (!checked) add_complaint(reader.fields, item, checked.error().what);
}

Result<Configuration> configuration_of(const Scenario& scenario) {
  auto plan = cloud_plan(scenario.cloud);
  if (!plan) return fail("cloud", plan.error());
  auto edge = edge_options(scenario.edge);
  if (!edge) return fail("edge", edge.error());
  return Configuration{.rules = plan->rules,
                       .controllers = plan->enabled,
                       .has_scheduler = plan->scheduler.has_value(),
                       .edge = *std::move(edge)};
}

}  // namespace holdfast::agent::lab
