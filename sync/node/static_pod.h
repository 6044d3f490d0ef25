// Finds and checks the next manifest of a static pod that is upgraded over the air. Pure.
//
// yurt-manager writes the next manifest of a YurtStaticSet into a ConfigMap in the pod's namespace.
// Its key is the name of the manifest file in the kubelet's folder, without ".yaml".

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::sync::node {

// "nginx" for the mirror pod "nginx-edge-a" on node "edge-a"; std::nullopt if the name does not end
// with the node's name.
[[nodiscard]] std::optional<std::string> static_pod_name(std::string_view pod,
                                                         std::string_view node_name);
// The name of the ConfigMap with the next manifest: "yurt-static-set-nginx".
[[nodiscard]] std::string static_pod_config_map(std::string_view name);

struct ManifestFile {
  std::string name;  // the file's name without a folder: "nginx.yaml"
  std::string text;  // YAML, as yurt-manager wrote it

  bool operator==(const ManifestFile&) const = default;
};

// Reads the one manifest in a ConfigMap (JSON). Errors: invalid (not a ConfigMap; not exactly one
// manifest; a key that would leave the folder or that the kubelet would not read; empty; over
// manifest_bytes_max).
[[nodiscard]] Result<ManifestFile> manifest_in(std::string_view config_map);

// The size limit of a ConfigMap.
inline constexpr std::size_t manifest_bytes_max = 1UL << 20;

// The parts of a manifest that are checked before it is used.
struct PodManifest {
  struct Container {
    std::string name;
    std::string image;
    bool operator==(const Container&) const = default;
  };
  std::string api_version = {};
  std::string kind = {};
  std::string name = {};
  std::string namespace_name = {};  // "" means default
  std::vector<Container> containers = {};

  bool operator==(const PodManifest&) const = default;
};

// Checks that the manifest is one for the static pod of this name. Errors: invalid, with the
// reason.
[[nodiscard]] Status check_manifest(const PodManifest& manifest, std::string_view namespace_name,
                                    std::string_view name);

}  // namespace holdfast::sync::node
