// Pods, ConfigMaps and Secrets for the tests of the runtime, and its actions as lines of text.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sync/runtime/actions.h"
#include "sync/runtime/config_source.h"

namespace holdfast::sync::test {

// A Pod from the JSON of its fields; fails the test when it is none.
[[nodiscard]] std::shared_ptr<Pod> pod_from(const std::string& json);

// "default/NAME" with uid "uid-NAME" and one container "c" that runs `sleep 1000`.
[[nodiscard]] std::shared_ptr<Pod> simple_pod(const std::string& name);

class FakeConfigs final : public ConfigSource {
 public:
  // An object without data stands for one that does not exist; what is in neither map was never
  // received.
  std::map<std::string, std::optional<StringMap>> config_maps;  // by "namespace/name"
  std::map<std::string, std::optional<StringMap>> secrets;

  [[nodiscard]] Lookup<ConfigMap> config_map(std::string_view namespace_name,
                                             std::string_view name) const override;
  [[nodiscard]] Lookup<Secret> secret(std::string_view namespace_name,
                                      std::string_view name) const override;
};

// "start default/web c#1 restarts 1 next 10s: sleep 1000", and so on: one line for each.
[[nodiscard]] std::string to_text(const RuntimeAction& action);

// "Running Ready c=running" in one line.
[[nodiscard]] std::string summary(const PodStatus& status);

}  // namespace holdfast::sync::test
