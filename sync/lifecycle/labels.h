// Keeps the beta labels for a node's operating system and architecture equal to the stable ones.

#pragma once

#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

// The values to set so that beta.kubernetes.io/os and beta.kubernetes.io/arch equal
// kubernetes.io/os and kubernetes.io/arch. Empty if nothing differs. Without the stable label, the
// beta label is left unchanged.
[[nodiscard]] StringMap labels_to_set(const StringMap& labels);

}  // namespace holdfast::sync::lifecycle
