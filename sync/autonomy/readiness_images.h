// Which images a node has according to its Node object, and which images are pulled at every start.
// Pure.

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sync/wire/json.h"

namespace holdfast::sync::autonomy {

// The name that a container runtime uses: "docker.io/library/nginx:latest" for "nginx".
[[nodiscard]] std::string full_image_name(std::string_view image);

struct NodeImages {
  std::set<std::string> names;  // as returned by full_image_name()
  bool complete = false;        // every image of the node is in `names`

  [[nodiscard]] bool has(std::string_view image) const {
    return names.contains(full_image_name(image));
  }
};

// `node` is a Node in JSON, or null. The list is complete if it has fewer than `reported_max`
// images.
[[nodiscard]] NodeImages images_of(const json::value& node, std::size_t reported_max);

// Whether the kubelet contacts the registry at each start. An empty `policy` means the API server's
// default, which depends on the image's tag.
[[nodiscard]] bool pulls_always(std::string_view image, std::string_view policy);

}  // namespace holdfast::sync::autonomy
