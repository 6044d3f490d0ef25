// Reads a KubeSchedulerConfiguration. Each YAML map has a table of its known fields; any other
// field is an error that names it.

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "agent/cloud/scheduler/scheduler_plan.h"
#include "platform/fs/file.h"
#include "platform/text.h"
#include "sync/objects/name.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t pem_limit = 1 << 20;

using Reader = std::function<Status(const YAML::Node&)>;
using Fields = std::map<std::string, Reader, std::less<>>;

tl::unexpected<Error> wrong(const std::string& what) { return fail(Errc::invalid, what); }

// Puts the field's name in front of an error message.
Status at(const std::string& field, const Status& read) {
  if (read) return read;
  const std::string& what = read.error().what;
  const bool deeper = what.starts_with('[') || what.starts_with('.');
  return fail(read.error().code, field + (deeper ? "" : ": ") + what);
}

// Reads a map by its table of fields. Error messages have the path to the field.
Status read_fields(const YAML::Node& map, const Fields& fields) {
  if (!map.IsMap()) return wrong("expected a map");
  for (const auto& entry : map) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string("?");
    const auto found = fields.find(key);
    if (found == fields.end()) {
      return wrong("line " + std::to_string(entry.first.Mark().line + 1) + ": \"" + key +
                   "\" is not known here");
    }
    if (const Status read = at(key, found->second(entry.second)); !read) {
      return fail(read.error().code, read.error().what.starts_with("line ")
                                         ? read.error().what
                                         : "." + read.error().what);
    }
  }
  return {};
}

Reader text(std::string& out) {
  return [&out](const YAML::Node& node) -> Status {
    if (!node.IsScalar()) return wrong("expected a string");
    out = node.Scalar();
    return {};
  };
}

Reader number(std::int64_t least, std::int64_t most, std::function<void(std::int64_t)> use) {
  return [least, most, use = std::move(use)](const YAML::Node& node) -> Status {
    const auto value =
        node.IsScalar() ? parse_int<std::int64_t>(node.Scalar()) : std::optional<std::int64_t>();
    if (!value || *value < least || *value > most) {
      return wrong("expected a number from " + std::to_string(least) + " to " +
                   std::to_string(most));
    }
    use(*value);
    return {};
  };
}

Reader flag(bool& out) {
  return [&out](const YAML::Node& node) -> Status {
    const std::string word = node.IsScalar() ? node.Scalar() : std::string();
    if (word != "true" && word != "false") return wrong("expected true or false");
    out = word == "true";
    return {};
  };
}

Reader duration(Duration& out) {
  return [&out](const YAML::Node& node) -> Status {
    if (!node.IsScalar()) return wrong("expected a duration");
    TRY(out, parse_duration(node.Scalar()));
    if (out <= Duration::zero()) return wrong("must be above zero");
    return {};
  };
}

Reader each(const Reader& read) {
  return [read](const YAML::Node& list) -> Status {
    if (!list.IsSequence()) return wrong("expected a list");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Status done = at("[" + std::to_string(i) + "]", read(list[i]));
      if (!done) return done;
    }
    return {};
  };
}

Reader pem(std::string& out, const std::string& folder) {
  return [&out, folder](const YAML::Node& node) -> Status {
    if (!node.IsScalar()) return wrong("expected a file name");
    TRY(out, fs::read_all(std::filesystem::path(folder) / node.Scalar(), pem_limit));
    return {};
  };
}

constexpr std::int64_t weight_max = 1'000'000;  // a limit of ours; upstream allows 2^63 / 10

Status read_tls(const YAML::Node& node, const std::string& folder, tls::ClientSettings& tls) {
  return read_fields(node, {{"insecure", flag(tls.insecure)},
                            {"serverName", text(tls.server_name)},
                            {"caFile", pem(tls.ca_pem, folder)},
                            {"certFile", pem(tls.identity.certificate_pem, folder)},
                            {"keyFile", pem(tls.identity.key_pem, folder)}});
}

struct ManagedResource {
  std::string name;
  bool ignored = false;
};

Status read_managed(const YAML::Node& node, ExtenderPlan& extender, SchedulerPlan& plan) {
  ManagedResource managed;
  const Status read = read_fields(
      node, {{"name", text(managed.name)}, {"ignoredByScheduler", flag(managed.ignored)}});
  if (!read) return read;
  if (!sync::objects::is_extended_resource(managed.name)) {
    return wrong(".name: \"" + managed.name + "\" is no extended resource (\"example.com/gpu\")");
  }
  if (managed.ignored) plan.plugins.fit.ignored_resources.insert(managed.name);
  extender.rules.managed_resources.insert(std::move(managed.name));
  return {};
}

// Constraints between several fields.
Status check_extender(const ExtenderPlan& extender, const SchedulerPlan& plan) {
  if (extender.rules.url.empty()) return wrong(".urlPrefix: must not be empty");
  if (!extender.prioritize_verb.empty() && extender.weight == 0) {
    return wrong(".weight: must be above zero with a prioritizeVerb");
  }
  for (const ExtenderPlan& other : plan.extenders) {
    if (!extender.bind_verb.empty() && !other.bind_verb.empty()) {
      return wrong(".bindVerb: only one extender can bind");
    }
  }
  const tls::Identity& identity = extender.tls.identity;
  if (identity.certificate_pem.empty() != identity.key_pem.empty()) {
    return wrong(".tlsConfig: certFile and keyFile go together");
  }
  return {};
}

Status read_extender(const YAML::Node& node, const std::string& folder, SchedulerPlan& plan) {
  ExtenderPlan extender;
  bool https = false;
  const Reader tls = [&extender, &folder](const YAML::Node& map) {
    return read_tls(map, folder, extender.tls);
  };
  const Reader managed = [&extender, &plan](const YAML::Node& map) {
    return read_managed(map, extender, plan);
  };
  const Status read = read_fields(
      node, {{"urlPrefix", text(extender.rules.url)},
             {"filterVerb", text(extender.filter_verb)},
             {"prioritizeVerb", text(extender.prioritize_verb)},
             {"preemptVerb", text(extender.preempt_verb)},
             {"bindVerb", text(extender.bind_verb)},
             {"weight",
              number(0, weight_max, [&extender](std::int64_t value) { extender.weight = value; })},
             {"enableHTTPS", flag(https)},
             {"tlsConfig", tls},
             {"httpTimeout", duration(extender.timeout)},
             {"nodeCacheCapable", flag(extender.rules.node_cache_capable)},
             {"managedResources", each(managed)},
             {"ignorable", flag(extender.rules.ignorable)}});
  if (!read) return read;
  if (auto good = check_extender(extender, plan); !good) return good;
  auto server = parse_server_url(extender.rules.url);
  if (!server) return wrong(".urlPrefix: " + server.error().what);
  extender.server = *std::move(server);
  if (https && !extender.server.tls) return wrong(".enableHTTPS: urlPrefix is not https://");
  // As upstream: without a CA the extender's certificate is not verified.
  if (extender.tls.ca_pem.empty()) extender.tls.insecure = true;
  extender.rules.preempts = !extender.preempt_verb.empty();
  plan.extenders.push_back(std::move(extender));
  return {};
}

// Reads one entry of pluginConfig: a plugin's name and its arguments.
Status read_arguments(const YAML::Node& node, SchedulerPlan& plan) {
  std::string name;
  YAML::Node args;
  const Reader keep = [&args](const YAML::Node& map) -> Status {
    args.reset(map);
    return {};
  };
  const Status read = read_fields(node, {{"name", text(name)}, {"args", keep}});
  if (!read || !args.IsMap()) return read;
  std::string ignored;
  Fields fields = {{"apiVersion", text(ignored)}, {"kind", text(ignored)}};
  const auto collect = [](std::set<std::string, std::less<>>& out) {
    return each([&out](const YAML::Node& item) -> Status {
      if (!item.IsScalar()) return wrong("expected a string");
      out.insert(item.Scalar());
      return {};
    });
  };
  if (name == "DefaultPreemption") {
    fields["minCandidateNodesPercentage"] = number(
        0, 100, [&plan](std::int64_t value) { plan.limits.percentage = static_cast<int>(value); });
    fields["minCandidateNodesAbsolute"] = number(0, 1'000'000, [&plan](std::int64_t value) {
      plan.limits.absolute = static_cast<int>(value);
    });
  } else if (name == "VolumeBinding") {
    fields["bindTimeoutSeconds"] = number(
        0, 86'400, [&plan](std::int64_t value) { plan.volumes_max = std::chrono::seconds(value); });
  } else if (name == "NodeResourcesFit") {
    fields["ignoredResources"] = collect(plan.plugins.fit.ignored_resources);
    fields["ignoredResourceGroups"] = collect(plan.plugins.fit.ignored_groups);
  } else {
    return wrong(".name: no arguments of \"" + name + "\" are known here");
  }
  if (auto done = at(".args", read_fields(args, fields)); !done) return done;
  if (auto good = plan.limits.check(); !good) return at(".args", good);
  return {};
}

Status read_profile(const YAML::Node& node, SchedulerPlan& plan) {
  const Reader arguments = [&plan](const YAML::Node& map) { return read_arguments(map, plan); };
  return read_fields(node, {{"schedulerName", text(plan.name)}, {"pluginConfig", each(arguments)}});
}

Status check_config(const YAML::Node& root, const SchedulerPlan& plan) {
  if (root["profiles"] && root["profiles"].size() > 1) {
    return wrong("profiles: only one is supported");
  }
  if (plan.queue.backoff_max < plan.queue.backoff_initial) {
    return wrong("podMaxBackoffSeconds: must not be below podInitialBackoffSeconds");
  }
  return {};
}

Reader seconds(std::int64_t least, Duration& out) {
  return number(least, 86'400, [&out](std::int64_t value) { out = std::chrono::seconds(value); });
}

}  // namespace

Status read_scheduler_config(const std::string& text_of_file, const std::string& folder,
                             SchedulerPlan& plan) {
  YAML::Node root;
  try {
    root = YAML::Load(text_of_file);
  } catch (const YAML::Exception& error) {
    return wrong("line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  std::string version;
  std::string kind;
  const Reader extender = [&folder, &plan](const YAML::Node& map) {
    return read_extender(map, folder, plan);
  };
  const Reader profile = [&plan](const YAML::Node& map) { return read_profile(map, plan); };
  const auto ignored = [&plan](const char* name, bool is_map) -> Reader {
    return [&plan, name, is_map](const YAML::Node& node) -> Status {
      if (is_map && !node.IsMap()) return wrong("expected a map");
      if (!is_map && !node.IsScalar()) return wrong("expected a value");
      plan.ignored.emplace_back(name);
      return {};
    };
  };
  const Status read = read_fields(
      root, {{"apiVersion", text(version)},
             {"kind", text(kind)},
             {"leaderElection", ignored("leaderElection", true)},
             {"clientConnection", ignored("clientConnection", true)},
             {"healthzBindAddress", ignored("healthzBindAddress", false)},
             {"metricsBindAddress", ignored("metricsBindAddress", false)},
             {"enableProfiling", ignored("enableProfiling", false)},
             {"enableContentionProfiling", ignored("enableContentionProfiling", false)},
             {"delayCacheUntilActive", ignored("delayCacheUntilActive", false)},
             {"parallelism",
              number(1, 1024,
                     [&plan](std::int64_t value) { plan.parallelism = static_cast<int>(value); })},
             {"percentageOfNodesToScore", number(0, 100,
                                                 [&plan](std::int64_t value) {
                                                   plan.attempt.percentage_of_nodes =
                                                       static_cast<int>(value);
                                                 })},
             {"podInitialBackoffSeconds", seconds(1, plan.queue.backoff_initial)},
             {"podMaxBackoffSeconds", seconds(1, plan.queue.backoff_max)},
             {"profiles", each(profile)},
             {"extenders", each(extender)}});
  if (!read) {
    const std::string& what = read.error().what;
    return fail(read.error().code, what.starts_with('.') ? what.substr(1) : what);
  }
  if (kind != "KubeSchedulerConfiguration" || version != "kubescheduler.config.k8s.io/v1") {
    return wrong("is no KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1");
  }
  return check_config(root, plan);
}

}  // namespace holdfast::agent
