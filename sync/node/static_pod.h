// Static pods that are upgraded over the air: whose manifest a file is, where the next one stands,
// and whether it may take its place.
//
// yurt-manager writes the next manifest of a YurtStaticSet into a ConfigMap in the pod's namespace;
// its key is the name of the file in the kubelet's folder, without ".yaml".

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::sync {

// "nginx" of the mirror pod "nginx-edge-a"; nothing: the kubelet of `node_name` names none so.
[[nodiscard]] std::optional<std::string> static_pod_name(std::string_view pod,
                                                         std::string_view node_name);
// The ConfigMap with its next manifest: "yurt-static-set-nginx".
[[nodiscard]] std::string static_pod_config_map(std::string_view name);

struct ManifestFile {
  std::string name;  // of the file, without any folder: "nginx.yaml"
  std::string text;  // YAML, as yurt-manager wrote it

  bool operator==(const ManifestFile&) const = default;
};

// The one manifest in a ConfigMap (JSON). Errors: invalid (no ConfigMap; none or several; a key
// that would lead out of the folder or that the kubelet would not read; empty, or over the limit).
[[nodiscard]] Result<ManifestFile> manifest_in(std::string_view config_map);

// The most that a ConfigMap can hold.
inline constexpr std::size_t manifest_bytes_max = 1UL << 20;

// What is read of a manifest before it is believed.
struct PodManifest {
  struct Container {
    std::string name;
    std::string image;
    bool operator==(const Container&) const = default;
  };
  std::string api_version = {};
  std::string kind = {};
  std::string name = {};
  std::string namespace_name = {};  // "" is default
  std::vector<Container> containers = {};

  bool operator==(const PodManifest&) const = default;
};

// Whether it is one for the static pod of this name. Errors: invalid, saying why not.
[[nodiscard]] Status check_manifest(const PodManifest& manifest, std::string_view namespace_name,
                                    std::string_view name);

}  // namespace holdfast::sync
