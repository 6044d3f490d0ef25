// The folder from which the kubelet runs static pods: a manifest in it is replaced by its next
// version, whole or not at all, and the old one is kept.
//
// Threading: any one thread.

#pragma once

#include <string>
#include <string_view>

#include "platform/fs/file.h"
#include "sync/node/static_pod.h"

namespace holdfast::agent {

// What is read of a manifest. Errors: invalid (not YAML, several documents, no map).
[[nodiscard]] Result<sync::PodManifest> read_manifest(std::string_view yaml);

struct StaticPodFolders {
  fs::Path manifests;  // the kubelet's
  fs::Path kept;       // where old ones are kept, as NAME.bak; made when it is missing
};

enum class ManifestChange : std::uint8_t { replaced, same };

// Puts `file` into the place of the manifest of that name, which must be there and be one of the
// same pod, as must the new one. The kubelet never sees a part of it, nor a second file.
// Errors: invalid (either manifest), not_found (there is no such file), the disk's.
[[nodiscard]] Result<ManifestChange> replace_manifest(const StaticPodFolders& folders,
                                                      const sync::ManifestFile& file,
                                                      std::string_view namespace_name,
                                                      std::string_view name);

}  // namespace holdfast::agent
