// How a node is registered again after the cloud has deleted it. Pure.

#pragma once

#include <string_view>

#include "sync/wire/json.h"

namespace holdfast::sync::autonomy {

// Whether a kubelet may set this label on its own Node. Of those under kubernetes.io and k8s.io,
// the admission plug-in NodeRestriction permits only the labels of upstream's
// pkg/kubelet/apis/well_known_labels.go.
[[nodiscard]] bool may_label_own_node(std::string_view label);

// The Node to create, from the last known state of one that was deleted: without what the API
// server assigns, what only the cloud may decide (taints, podCIDR, forbidden labels), and what is
// true of the old Node only.
[[nodiscard]] json::object registration_of(const json::object& node);

}  // namespace holdfast::sync::autonomy
