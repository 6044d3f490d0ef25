// Settings of OpenYurt's filters. The flags have YurtHub's names where YurtHub has them.

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
  bool pool_service_topology = false;  // read a pool's nodes from NodeBuckets
  // Else from the NodePool; with neither, topology by pool is off.
  bool node_pool = true;
  std::string nodepool_name;  // of this node; "": as its label says
  // "namespace/name" of the ConfigMap with further settings; "" for none.
  std::string hub_config = "kube-system/yurt-hub-cfg";

  // The filters named by `disabled`. For options that passed check().
  [[nodiscard]] std::set<sync::filters::Filter> disabled_filters() const;
};

void add_options(config::Options& options, FilterOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const FilterOptions& settings);

}  // namespace holdfast::agent
