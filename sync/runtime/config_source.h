// Where the environment of a container comes from: reads ConfigMaps and Secrets by name.

#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "sync/model/config.h"
#include "sync/runtime/desired_pods.h"

namespace holdfast::sync::runtime {

// The API server said that the object does not exist.
struct Absent {
  bool operator==(const Absent&) const = default;
};

// One object: never received, known not to exist, or present.
template <class T>
using Lookup = std::variant<NeverReceived, Absent, std::shared_ptr<const T>>;

// Answers at once from local data: the product reads the edge agent's cache, a test reads a map.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;
  [[nodiscard]] virtual Lookup<ConfigMap> config_map(std::string_view namespace_name,
                                                     std::string_view name) const = 0;
  [[nodiscard]] virtual Lookup<Secret> secret(std::string_view namespace_name,
                                              std::string_view name) const = 0;
};

}  // namespace holdfast::sync::runtime
