// Validates names, labels and keys, with upstream's error texts.
//
// Each function returns the reasons why `value` is invalid, in upstream's order; none if it is
// valid.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync/model/string_map.h"
#include "sync/wire/field_error.h"

namespace holdfast::sync::objects {

using Reasons = std::vector<std::string>;

// Names of most objects.
[[nodiscard]] Reasons check_dns1123_subdomain(std::string_view value);
// Names of namespaces, containers, volumes, ports.
[[nodiscard]] Reasons check_dns1123_label(std::string_view value);
// Names of services.
[[nodiscard]] Reasons check_dns1035_label(std::string_view value);
// Keys of labels, annotations, taints; finalizers. An optional DNS prefix, '/', and a name.
[[nodiscard]] Reasons check_qualified_name(std::string_view value);
[[nodiscard]] Reasons check_label_value(std::string_view value);
// Keys of configmaps and secrets.
[[nodiscard]] Reasons check_config_key(std::string_view value);
[[nodiscard]] Reasons check_env_name(std::string_view value);
// Whether a name can be a segment of a URL path.
[[nodiscard]] Reasons check_path_segment(std::string_view value);

// Validate whole maps of an object's metadata. `path` is "metadata.labels" or similar.
[[nodiscard]] wire::FieldErrors check_labels(const StringMap& labels, const std::string& path);
[[nodiscard]] wire::FieldErrors check_annotations(const StringMap& annotations,
                                                  const std::string& path);

// Whether this is the name of an extended resource, such as "example.com/gpu".
[[nodiscard]] bool is_extended_resource(std::string_view resource);

}  // namespace holdfast::sync::objects
