// Decides which filters apply to which component's answers: OpenYurt's defaults, less the filters
// that the command line disables, plus those that the ConfigMap yurt-hub-cfg adds. Pure.

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
  std::size_t names = 64;        // names per key
  std::size_t name_bytes = 128;  // bytes of one component's name
};

// The settings in the ConfigMap. They add to the defaults and never remove one.
struct HubConfig {
  std::set<std::string> cache_agents;  // additional components to cache; "*" means all
  // Additional components of each filter.
  std::map<Filter, std::set<std::string>> components;

  bool operator==(const HubConfig&) const = default;
};

struct HubConfigRead {
  HubConfig config;
  std::vector<std::string> warnings;  // each names the key and the value that was ignored
};

// Reads a ConfigMap in JSON. Its keys are `cache_agents` and the filters' names; each value is a
// comma-separated list of components in upper or lower case. Invalid entries are ignored with a
// warning; valid ones still apply. Errors: invalid (not a JSON object).
[[nodiscard]] Result<HubConfigRead> read_hub_config(std::string_view configmap,
                                                    const HubConfigLimits& limits = {});

class FilterAssignment {
 public:
  // With `enabled` false no filter applies to any answer.
  FilterAssignment(bool enabled, std::set<Filter> disabled);

  void configure(HubConfig config) { config_ = std::move(config); }
  [[nodiscard]] const HubConfig& config() const { return config_; }

  // The filters for a component's request, in order.
  [[nodiscard]] FilterChain chain_for(std::string_view component, std::string_view verb,
                                      std::string_view group, std::string_view resource) const;
  // Whether a filter could apply to such a request with some configuration.
  [[nodiscard]] bool may_concern(std::string_view verb, std::string_view group,
                                 std::string_view resource) const;
  // Whether the ConfigMap adds this component to those whose answers are cached.
  [[nodiscard]] bool caches(std::string_view component) const;
  [[nodiscard]] bool enabled(Filter filter) const { return !disabled_.contains(filter); }
  // All components that have the filter now, sorted.
  [[nodiscard]] std::set<std::string> components_of(Filter filter) const;

 private:
  std::set<Filter> disabled_;
  HubConfig config_;
};

}  // namespace holdfast::sync::filters
