// Pods, ConfigMaps and Secrets for the tests of the runtime, and its actions as lines of text.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sync/runtime/actions.h"
#include "sync/runtime/config_source.h"

namespace holdfast::sync::runtime::test {

// Makes a Pod from JSON; the test fails if it is not a Pod.
[[nodiscard]] std::shared_ptr<Pod> pod_from(const std::string& json);

// "default/NAME" with uid "uid-NAME" and one container "c" that runs `sleep 1000`.
[[nodiscard]] std::shared_ptr<Pod> simple_pod(const std::string& name);

class FakeConfigs final : public ConfigSource {
 public:
  // nullopt stands for an object that is known not to exist. An object that is missing in the map
  // was never received.
  std::map<std::string, std::optional<StringMap>> config_maps;  // by "namespace/name"
  std::map<std::string, std::optional<StringMap>> secrets;

  [[nodiscard]] Lookup<ConfigMap> config_map(std::string_view namespace_name,
                                             std::string_view name) const override;
  [[nodiscard]] Lookup<Secret> secret(std::string_view namespace_name,
                                      std::string_view name) const override;
};

// The actions as text, one line each: "start default/web c#1 restarts 1 next 10s: sleep 1000".
[[nodiscard]] std::string to_text(const RuntimeAction& action);

// The status in one line: "Running Ready c=running".
[[nodiscard]] std::string summary(const PodStatus& status);

}  // namespace holdfast::sync::runtime::test
