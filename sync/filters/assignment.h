// Which component's answers pass which filters: OpenYurt's defaults, what the command line switches
// off, and what the ConfigMap yurt-hub-cfg adds.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/filters/filter.h"

namespace holdfast::sync::filters {

struct HubConfigLimits {
  std::size_t names = 64;        // of one key
  std::size_t name_bytes = 128;  // of one component's
};

// The ConfigMap's settings. It adds: what is a default stays one.
struct HubConfig {
  std::set<std::string> cache_agents;  // who is cached besides; "*" for all
  std::map<Filter, std::set<std::string>> components;

  bool operator==(const HubConfig&) const = default;
};

struct HubConfigRead {
  HubConfig config;
  std::vector<std::string> warnings;  // each names the key and the value that was left out
};

// Reads a ConfigMap as JSON: keys `cache_agents` and the filters' names, each a comma list of
// components in any case. What is wrong is left out with a warning, the rest counts.
// Errors: invalid (no JSON object).
[[nodiscard]] Result<HubConfigRead> read_hub_config(std::string_view configmap,
                                                    const HubConfigLimits& limits = {});

class FilterAssignment {
 public:
  // With `enabled` false nobody's answers pass any filter.
  FilterAssignment(bool enabled, std::set<Filter> disabled);

  void configure(HubConfig config) { config_ = std::move(config); }
  [[nodiscard]] const HubConfig& config() const { return config_; }

  [[nodiscard]] FilterChain chain_for(std::string_view component, std::string_view verb,
                                      std::string_view group, std::string_view resource) const;
  // Whether some configuration could give an answer to this a filter.
  [[nodiscard]] bool may_concern(std::string_view verb, std::string_view group,
                                 std::string_view resource) const;
  // Whether the ConfigMap has this component cached.
  [[nodiscard]] bool caches(std::string_view component) const;
  [[nodiscard]] bool enabled(Filter filter) const { return !disabled_.contains(filter); }
  // All who have the filter now, sorted.
  [[nodiscard]] std::set<std::string> components_of(Filter filter) const;

 private:
  std::set<Filter> disabled_;
  HubConfig config_;
};

}  // namespace holdfast::sync::filters
