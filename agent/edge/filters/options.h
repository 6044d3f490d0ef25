// Settings of OpenYurt's filters. Flags are YurtHub's where it has them.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/result.h"
#include "sync/filters/filter.h"

namespace holdfast::agent {

struct FilterOptions {
  bool enabled = true;
  std::vector<std::string> disabled;   // by name
  bool pool_service_topology = false;  // a pool's nodes are told by NodeBuckets
  bool node_pool = true;               // else by the NodePool; with neither a pool is no topology
  std::string nodepool_name;           // of this node; "": what its label says
  // "namespace/name" of the ConfigMap with more settings; "" for none.
  std::string hub_config = "kube-system/yurt-hub-cfg";

  // Of checked options.
  [[nodiscard]] std::set<sync::filters::Filter> disabled_filters() const;
};

void add_options(config::Options& options, FilterOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const FilterOptions& settings);

}  // namespace holdfast::agent
