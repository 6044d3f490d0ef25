#include "sync/filters/assignment.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::sync::filters {
namespace {

constexpr std::string_view cache_agents_key = "cache_agents";

bool is_name_character(char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; }

bool is_component(std::string_view name, const HubConfigLimits& limits) {
  return !name.empty() && name.size() <= limits.name_bytes &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

// Parses one key's value; `any` allows "*".
std::set<std::string> read_names(std::string_view key, std::string_view value, bool any,
                                 const HubConfigLimits& limits,
                                 std::vector<std::string>& warnings) {
  std::set<std::string> names;
  for (const std::string_view part : split(value, ',')) {
    const std::string name = to_lower(trim(part));
    if (name.empty()) continue;
    std::string problem;
    if (!(any && name == "*") && !is_component(name, limits)) {
      problem = " is not a component's name";
    } else if (names.size() >= limits.names && !names.contains(name)) {
      problem = " exceeds the limit of " + std::to_string(limits.names) + " names";
    }
    if (problem.empty()) {
      names.insert(name);
    } else {
      warnings.push_back(std::string(key) + ": " + wire::quoted(name.substr(0, limits.name_bytes)) +
                         problem);
    }
  }
  return names;
}

}  // namespace

Result<HubConfigRead> read_hub_config(std::string_view configmap, const HubConfigLimits& limits) {
  TRY(const json::value parsed, wire::parse_json(configmap));
  if (!parsed.is_object()) return fail(Errc::invalid, "not a ConfigMap");
  HubConfigRead read;
  for (const auto& entry : wire::dig_object(parsed.get_object(), {"data"})) {
    const std::string_view key = entry.key();
    const bool agents = key == cache_agents_key;
    const auto filter = parse_filter(key);
    if (!agents && !filter) {
      read.warnings.push_back(wire::quoted(key) + " is neither cache_agents nor a filter's name");
    } else if (!entry.value().is_string()) {
      read.warnings.push_back(std::string(key) + ": " + wire::serialize(entry.value()) +
                              " is not a string");
    } else {
      auto names = read_names(key, wire::as_text(entry.value()), agents, limits, read.warnings);
      (agents ? read.config.cache_agents : read.config.components[*filter]) = std::move(names);
    }
  }
  return read;
}

FilterAssignment::FilterAssignment(bool enabled, std::set<Filter> disabled)
    : disabled_(std::move(disabled)) {
  if (!enabled) disabled_.insert(all_filters.begin(), all_filters.end());
}

std::set<std::string> FilterAssignment::components_of(Filter filter) const {
  std::set<std::string> components;
  if (!enabled(filter)) return components;
  for (const std::string_view name : default_components(filter)) components.emplace(name);
  const auto more = config_.components.find(filter);
  if (more != config_.components.end()) components.insert(more->second.begin(), more->second.end());
  return components;
}

FilterChain FilterAssignment::chain_for(std::string_view component, std::string_view verb,
                                        std::string_view group, std::string_view resource) const {
  FilterChain chain;
  for (const Filter filter : all_filters) {
    if (!enabled(filter) || !concerns(filter, verb, group, resource)) continue;
    if (components_of(filter).contains(std::string(component))) chain.push_back(filter);
  }
  return chain;
}

bool FilterAssignment::may_concern(std::string_view verb, std::string_view group,
                                   std::string_view resource) const {
  bool any = false;
  for (const Filter filter : all_filters) {
    any = any || (enabled(filter) && concerns(filter, verb, group, resource));
  }
  return any;
}

bool FilterAssignment::caches(std::string_view component) const {
  return config_.cache_agents.contains("*") ||
         config_.cache_agents.contains(std::string(component));
}

}  // namespace holdfast::sync::filters
