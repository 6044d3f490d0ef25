#include "sync/runtime/launch_plan.h"

#include <optional>

#include "sync/runtime/expand.h"

namespace holdfast::sync::runtime {
namespace {

constexpr std::string_view default_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t host_name_max = 63;

bool has_nul(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text.find('\0') != text.npos) return true;
  }
  return false;
}

// Adds the variables that a container runtime would set.
EnvList with_defaults(const Pod& pod, const EnvList& own) {
  EnvList all;
  set_variable(all, "PATH", default_path);
  set_variable(all, "HOSTNAME", std::string_view(pod.metadata.name).substr(0, host_name_max));
  for (const auto& [name, value] : own) set_variable(all, name, value);
  return all;
}

}  // namespace

Result<LaunchPlan> make_launch_plan(const Pod& pod, const Container& container,
                                    const NodeFacts& node, const ConfigSource& configs) {
  if (container.command.empty()) {
    return fail(Errc::invalid, "the process runtime needs spec.containers[].command: container \"" +
                                   container.name +
                                   "\" has none, and there is no image to provide one");
  }
  TRY(const EnvList own, make_environment(pod, container, node, configs));
  const Variables variables = [&own](std::string_view name) -> std::optional<std::string_view> {
    const std::string* value = find_variable(own, name);
    if (value == nullptr) return std::nullopt;
    return std::string_view(*value);
  };
  LaunchPlan plan;
  for (const auto* texts : {&container.command, &container.args}) {
    for (const std::string& text : *texts) plan.argv.push_back(expand(text, variables));
  }
  for (const auto& [name, value] : with_defaults(pod, own)) plan.env.push_back(name + "=" + value);
  plan.working_dir = container.working_dir;
  if (has_nul(plan.argv) || has_nul(plan.env) || plan.working_dir.find('\0') != std::string::npos) {
    return fail(Errc::invalid, "container \"" + container.name +
                                   "\": an argument, variable or directory holds a NUL character");
  }
  if (plan.argv.front().empty()) {
    return fail(Errc::invalid,
                "container \"" + container.name + "\": its command is an empty text");
  }
  return plan;
}

}  // namespace holdfast::sync::runtime
