#include "sync/autonomy/readiness_images.h"

#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

// The position of the colon before the tag, or npos if there is no tag. A colon before the last
// slash belongs to the registry's port.
std::size_t tag_at(std::string_view image) {
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool port = slash != std::string_view::npos && colon < slash;
  return port ? std::string_view::npos : colon;
}

// Whether the name starts with a registry: "localhost/a", "example.com/a" and "host:5000/a" do,
// "library/a" does not.
bool names_registry(std::string_view image) {
  const std::size_t slash = image.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view first = image.substr(0, slash);
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
}

}  // namespace

std::string full_image_name(std::string_view image) {
  std::string full(image);
  if (!names_registry(image)) {
    full.insert(0, image.find('/') == std::string_view::npos ? "docker.io/library/" : "docker.io/");
  }
  const std::size_t digest = full.find('@');
  if (digest != std::string::npos) {
    // For an image "a:1@sha256:..." the runtime reports "a@sha256:...".
    const std::size_t tag = tag_at(std::string_view(full).substr(0, digest));
    return tag == std::string::npos ? full : full.substr(0, tag) + full.substr(digest);
  }
  return tag_at(full) == std::string::npos ? full + ":latest" : full;
}

NodeImages images_of(const json::value& node, std::size_t reported_max) {
  NodeImages images;
  const json::array& listed = wire::dig_list(wire::as_object(node), {"status", "images"});
  // The kubelet omits an empty list, so it may also mean that nothing was reported yet.
  if (listed.empty()) return images;
  for (const json::value& image : listed) {
    for (const json::value& name : wire::dig_list(wire::as_object(image), {"names"})) {
      if (name.is_string()) images.names.insert(full_image_name(wire::as_text(name)));
    }
  }
  images.complete = listed.size() < reported_max;
  return images;
}

bool pulls_always(std::string_view image, std::string_view policy) {
  if (!policy.empty()) return policy == "Always";
  if (image.find('@') != std::string_view::npos) return false;
  const std::size_t tag = tag_at(image);
  return tag == std::string_view::npos || image.substr(tag) == ":latest";
}

}  // namespace holdfast::sync::autonomy
