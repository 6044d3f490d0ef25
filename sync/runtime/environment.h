// The environment of a container, from literals, fields of the pod, ConfigMaps and Secrets.
//
// As the kubelet builds it, but for the variables of services and valueFrom.resourceFieldRef: the
// process runtime has neither services nor resource limits.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/result.h"
#include "sync/runtime/config_source.h"

namespace holdfast::sync {

// What the node adds to what the pod says.
struct NodeFacts {
  std::string node_name;
  std::string host_ip = "127.0.0.1";
  std::string pod_ip = "127.0.0.1";
};

// In the order in which they were set; no name twice.
using EnvList = std::vector<std::pair<std::string, std::string>>;

// Errors: not_found (an object or key is missing that is not optional), unavailable (an object was
// never received), invalid (a source that cannot be read). The text is the kubelet's.
[[nodiscard]] Result<EnvList> make_environment(const Pod& pod, const Container& container,
                                               const NodeFacts& node, const ConfigSource& configs);

// The value at a field path such as metadata.labels['app']. Errors: invalid.
[[nodiscard]] Result<std::string> pod_field(const Pod& pod, std::string_view path,
                                            const NodeFacts& node);

// Sets a variable, in its old place when it has one.
void set_variable(EnvList& list, std::string_view name, std::string_view value);

// nullptr when there is none. Borrowed.
[[nodiscard]] const std::string* find_variable(const EnvList& list, std::string_view name);

}  // namespace holdfast::sync
