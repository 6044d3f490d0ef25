#include "agent/edge/admin/static_pods.h"

#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include "platform/fs/errno.h"
#include "platform/fs/ownership.h"

namespace holdfast::agent {
namespace {

std::string word(const YAML::Node& node) { return node && node.IsScalar() ? node.Scalar() : ""; }

sync::node::PodManifest fields_of(const YAML::Node& root) {
  const YAML::Node metadata = root["metadata"];
  const bool named = metadata && metadata.IsMap();
  sync::node::PodManifest read{.api_version = word(root["apiVersion"]), .kind = word(root["kind"])};
  if (named) read.name = word(metadata["name"]);
  if (named) read.namespace_name = word(metadata["namespace"]);
  const YAML::Node spec = root["spec"];
  const YAML::Node containers = spec && spec.IsMap() ? spec["containers"] : YAML::Node();
  if (!containers || !containers.IsSequence()) return read;
  for (const YAML::Node& each : containers) {
    if (!each.IsMap()) {
      read.containers.emplace_back();
      continue;
    }
    read.containers.push_back({word(each["name"]), word(each["image"])});
  }
  return read;
}

Status check(std::string_view yaml, std::string_view namespace_name, std::string_view name) {
  TRY(const sync::node::PodManifest read, read_manifest(yaml));
  return sync::node::check_manifest(read, namespace_name, name);
}

Status check_is_file(const fs::Path& file) {
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0) return fail_errno(file.string());
  if (!S_ISREG(facts.st_mode)) return fail(Errc::invalid, file.string() + " is not a plain file");
  // The kubelet runs what is there as root, so nobody else may write to the folder.
  if (auto safe = fs::check_own_dir(file.parent_path()); !safe) return safe;
  return fs::check_own_file(file);
}

// Writes a hidden file and renames it: the kubelet reads every file in its folder whose name does
// not begin with a dot.
Status swap_in(const fs::Path& file, std::string_view text) {
  const fs::Path hidden = file.parent_path() / ("." + file.filename().string());
  if (auto written = fs::atomic_write(hidden, text); !written) return written;
  if (::rename(hidden.c_str(), file.c_str()) != 0) {
    Status failed = fail_errno("rename " + hidden.string());
    (void)fs::remove_tree(hidden);
    return failed;
  }
  return fs::sync_dir(file.parent_path());
}

}  // namespace

Result<sync::node::PodManifest> read_manifest(std::string_view yaml) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(yaml));
    if (documents.size() != 1) return fail(Errc::invalid, "it is not one YAML document");
    if (!documents.front().IsMap()) return fail(Errc::invalid, "it is not a YAML map");
    return fields_of(documents.front());
  } catch (const YAML::Exception& error) {
    return fail(Errc::invalid, "line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

Result<ManifestChange> replace_manifest(const StaticPodFolders& folders,
                                        const sync::node::ManifestFile& file,
                                        std::string_view namespace_name, std::string_view name) {
  if (auto good = check(file.text, namespace_name, name); !good) {
    return fail("the next manifest", good.error());
  }
  const fs::Path place = folders.manifests / file.name;
  if (auto plain = check_is_file(place); !plain) return fail("the present manifest", plain.error());
  TRY(const std::string before, fs::read_all(place, sync::node::manifest_bytes_max));
  if (auto good = check(before, namespace_name, name); !good) {
    return fail("the present manifest, " + place.string(), good.error());
  }
  if (before == file.text) return ManifestChange::same;
  if (auto made = fs::ensure_own_dir(folders.kept); !made) return fail(made.error());
  if (auto kept = fs::atomic_write(folders.kept / (file.name + ".bak"), before); !kept) {
    return fail("keep the present manifest", kept.error());
  }
  if (auto done = swap_in(place, file.text); !done) return fail(done.error());
  return ManifestChange::replaced;
}

}  // namespace holdfast::agent
