#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/filters/filters.h"
#include "sync/wire/read.h"

namespace holdfast::sync::filters {
namespace {

namespace json = boost::json;

constexpr std::string_view config_key = "config.conf";
constexpr std::string_view kubeconfig_line = "kubeconfig:";

// Comments out every line that sets `kubeconfig`; other lines are unchanged.
std::string without_kubeconfig(std::string_view text) {
  std::string out;
  bool first = true;
  for (const std::string_view line : split(text, '\n')) {
    if (!first) out += '\n';
    first = false;
    const std::size_t at = line.find_first_not_of(" \t");
    if (at != std::string_view::npos && line.substr(at).starts_with(kubeconfig_line)) {
      out.append(line.substr(0, at)).append("#").append(line.substr(at));
    } else {
      out += line;
    }
  }
  return out;
}

// Sets the variable; returns whether that changed it.
bool set_variable(json::object& variable, std::string_view value) {
  if (wire::dig_text(variable, {"value"}) == value && !variable.contains("valueFrom")) return false;
  variable["value"] = value;
  variable.erase("valueFrom");  // A variable with both is invalid.
  return true;
}

bool set_variables(json::value& container, const std::string& host, const std::string& port) {
  json::object* parts = container.if_object();
  json::value* variables = parts == nullptr ? nullptr : parts->if_contains("env");
  if (variables == nullptr || !variables->is_array()) return false;
  bool changed = false;
  for (json::value& variable : variables->get_array()) {
    if (!variable.is_object()) continue;
    const std::string_view name = wire::dig_text(variable.get_object(), {"name"});
    if (name == service_host_variable) {
      changed = set_variable(variable.get_object(), host) || changed;
    } else if (name == service_port_variable) {
      changed = set_variable(variable.get_object(), port) || changed;
    }
  }
  return changed;
}

}  // namespace

FilterResult in_cluster_config(json::object& configmap) {
  const bool concerned = wire::namespace_of(configmap) == proxy_namespace &&
                         wire::name_of(configmap) == proxy_configmap;
  const json::value* config = concerned ? wire::dig(configmap, {"data", config_key}) : nullptr;
  if (config == nullptr || !config->is_string()) return {};
  const std::string after = without_kubeconfig(wire::as_text(*config));
  if (after == wire::as_text(*config)) return {};
  configmap["data"].get_object()[config_key] = after;
  return {Effect::changed};
}

FilterResult service_env_updater(json::object& pod, const FilterKnowledge& knowledge) {
  json::value* spec = pod.if_contains("spec");
  if (!knowledge.master || spec == nullptr || !spec->is_object()) return {};
  const std::string port = std::to_string(knowledge.master->port);
  bool changed = false;
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    json::value* containers = spec->get_object().if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& container : containers->get_array()) {
      changed = set_variables(container, knowledge.master->host, port) || changed;
    }
  }
  return {changed ? Effect::changed : Effect::none};
}

}  // namespace holdfast::sync::filters
