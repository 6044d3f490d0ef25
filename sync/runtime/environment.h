// Builds the environment of a container from literals, pod fields, ConfigMaps and Secrets. Pure.
//
// It follows the kubelet, but leaves out the variables of services and valueFrom.resourceFieldRef:
// the process runtime has neither services nor resource limits.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/result.h"
#include "sync/runtime/config_source.h"

namespace holdfast::sync::runtime {

// Facts about the node that a container can ask for.
struct NodeFacts {
  std::string node_name;
  std::string host_ip = "127.0.0.1";
  std::string pod_ip = "127.0.0.1";
};

// Name and value, in the order in which they were set. No name occurs twice.
using EnvList = std::vector<std::pair<std::string, std::string>>;

// Errors: not_found (an object or key is missing and not optional), unavailable (an object was
// never received), invalid (a source that cannot be read). The messages are the kubelet's.
[[nodiscard]] Result<EnvList> make_environment(const Pod& pod, const Container& container,
                                               const NodeFacts& node, const ConfigSource& configs);

// The value at a field path such as metadata.labels['app']. Errors: invalid.
[[nodiscard]] Result<std::string> pod_field(const Pod& pod, std::string_view path,
                                            const NodeFacts& node);

// Sets a variable; one that exists keeps its place.
void set_variable(EnvList& list, std::string_view name, std::string_view value);

// The value of a variable, borrowed from `list`; nullptr if there is none.
[[nodiscard]] const std::string* find_variable(const EnvList& list, std::string_view name);

}  // namespace holdfast::sync::runtime
