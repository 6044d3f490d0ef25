// Parts of the table of resources. Private to resources.cpp.

#pragma once

#include <vector>

#include "sync/printing/resources.h"

namespace holdfast::sync::printing {

[[nodiscard]] std::vector<Resource> batch_resources();
[[nodiscard]] std::vector<Resource> rbac_resources();

}  // namespace holdfast::sync::printing
