// Which images a node has, as its Node object says, and which of them must be pulled anew. Pure.

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sync/api/json.h"

namespace holdfast::sync {

// "docker.io/library/nginx:latest" of "nginx", as a container runtime names it.
[[nodiscard]] std::string full_image_name(std::string_view image);

struct NodeImages {
  std::set<std::string> names;  // full_image_name()
  bool complete = false;        // an image that is not among them is not on the node

  [[nodiscard]] bool has(std::string_view image) const {
    return names.contains(full_image_name(image));
  }
};

// `node` is a Node in JSON, or null. The kubelet reports at most `reported_max` images.
[[nodiscard]] NodeImages images_of(const json::value& node, std::size_t reported_max);

// Whether the kubelet asks the registry before each start. Without a policy that depends on the
// tag, as the API server's defaults do.
[[nodiscard]] bool pulls_always(std::string_view image, std::string_view policy);

}  // namespace holdfast::sync
