// Replaces the manifest of a static pod in the kubelet's folder. The new manifest appears
// completely or not at all, and the old one is kept.
//
// Threading: any one thread.

#pragma once

#include <string>
#include <string_view>

#include "platform/fs/file.h"
#include "sync/node/static_pod.h"

namespace holdfast::agent {

// Reads the fields of a manifest that are checked. Errors: invalid (not YAML, several documents, no
// map).
[[nodiscard]] Result<sync::node::PodManifest> read_manifest(std::string_view yaml);

struct StaticPodFolders {
  fs::Path manifests;  // the kubelet's folder
  fs::Path kept;       // where old manifests are kept as NAME.bak; created if missing
};

enum class ManifestChange : std::uint8_t { replaced, same };

// Replaces the manifest of that file name by `file`. Both must be manifests of the pod
// `namespace_name`/`name`. The kubelet never sees a partial or second file. Errors: invalid (either
// manifest), not_found (there is no such file), the disk's.
[[nodiscard]] Result<ManifestChange> replace_manifest(const StaticPodFolders& folders,
                                                      const sync::node::ManifestFile& file,
                                                      std::string_view namespace_name,
                                                      std::string_view name);

}  // namespace holdfast::agent
