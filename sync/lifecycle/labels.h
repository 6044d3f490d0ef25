// The old names of two node labels, kept equal to the stable ones.

#pragma once

#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

// The beta labels to set so that beta.kubernetes.io/os and arch follow kubernetes.io/os and arch;
// empty when nothing differs. A missing stable label leaves its old name alone.
[[nodiscard]] StringMap labels_to_set(const StringMap& labels);

}  // namespace holdfast::sync::lifecycle
