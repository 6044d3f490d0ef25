#include "sync/node/static_pod.h"

#include <algorithm>

#include "sync/objects/name.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::sync::node {
namespace {

// Whether the key is valid in a ConfigMap and the kubelet reads a file of that name: it ignores
// names with a leading dot.
bool is_file_name(std::string_view key) {
  constexpr std::size_t longest = 240;
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !key.empty() && key.size() <= longest && key.front() != '.' &&
         std::all_of(key.begin(), key.end(), good);
}

tl::unexpected<Error> no_manifest(std::string_view why) {
  return fail(Errc::invalid, std::string(why));
}

}  // namespace

std::optional<std::string> static_pod_name(std::string_view pod, std::string_view node_name) {
  std::string suffix = "-";
  suffix += node_name;
  if (!pod.ends_with(suffix) || pod.size() == suffix.size()) return std::nullopt;
  return std::string(pod.substr(0, pod.size() - suffix.size()));
}

std::string static_pod_config_map(std::string_view name) {
  std::string map = "yurt-static-set-";
  return map += name;
}

Result<ManifestFile> manifest_in(std::string_view config_map) {
  TRY(const json::value parsed, wire::parse_json(config_map));
  if (!parsed.is_object() || wire::name_of(parsed.get_object()).empty()) {
    return fail(Errc::invalid, "not a ConfigMap");
  }
  const json::object& data = wire::dig_object(parsed.get_object(), {"data"});
  if (data.size() != 1) {
    return fail(Errc::invalid,
                "it has " + std::to_string(data.size()) + " manifests instead of one");
  }
  const auto& entry = *data.begin();
  if (!is_file_name(entry.key())) {
    return fail(Errc::invalid, "\"" + std::string(entry.key()) + "\" is no name for a manifest");
  }
  ManifestFile file{.name = std::string(entry.key()) + ".yaml",
                    .text = std::string(wire::as_text(entry.value()))};
  if (file.text.empty()) return fail(Errc::invalid, "its manifest is empty");
  if (file.text.size() > manifest_bytes_max) {
    return fail(Errc::invalid, "its manifest is over the limit");
  }
  return file;
}

Status check_manifest(const PodManifest& manifest, std::string_view namespace_name,
                      std::string_view name) {
  if (manifest.api_version != "v1" || manifest.kind != "Pod") {
    return no_manifest("it is \"" + manifest.api_version + " " + manifest.kind +
                       "\" and not \"v1 Pod\"");
  }
  const std::string_view space =
      manifest.namespace_name.empty() ? "default" : std::string_view(manifest.namespace_name);
  if (manifest.name != name || space != namespace_name) {
    std::string why = "it is for the pod ";
    why.append(space).append("/").append(manifest.name).append(" and not for ");
    why.append(namespace_name).append("/").append(name);
    return no_manifest(why);
  }
  if (manifest.containers.empty()) return no_manifest("it has no containers");
  for (const PodManifest::Container& container : manifest.containers) {
    const auto reasons = objects::check_dns1123_label(container.name);
    if (!reasons.empty()) {
      return no_manifest("container \"" + container.name + "\": " + reasons.front());
    }
    if (container.image.empty()) {
      return no_manifest("container \"" + container.name + "\" has no image");
    }
  }
  return {};
}

}  // namespace holdfast::sync::node
