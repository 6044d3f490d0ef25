// What the process runtime runs, read from the cache: this node's pods and their configuration.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/edge/runtime/pod_source.h"
#include "agent/edge/scopes.h"

namespace holdfast::agent {

class LocalPods final : public PodSource {
 public:
  LocalPods(std::string node_name, Scopes& scopes);

  [[nodiscard]] sync::DesiredPods desired() const override;
  [[nodiscard]] loop::Event& changed() override { return scopes_.changed(); }
  [[nodiscard]] sync::Lookup<sync::ConfigMap> config_map(std::string_view namespace_name,
                                                         std::string_view name) const override;
  [[nodiscard]] sync::Lookup<sync::Secret> secret(std::string_view namespace_name,
                                                  std::string_view name) const override;

 private:
  struct Decoded {
    sync::Bytes bytes;  // of which `pod` was made
    std::shared_ptr<const sync::Pod> pod;
  };

  std::string node_name_;
  Scopes& scopes_;
  mutable std::map<sync::ObjectKey, Decoded> decoded_;
};

}  // namespace holdfast::agent
