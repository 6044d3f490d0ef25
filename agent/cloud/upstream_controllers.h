// The controllers of kube-controller-manager that holdfast-cloud does not have.

#pragma once

#include <string_view>

namespace holdfast::agent {

// Whether upstream's --controllers knows this name, current or former, and this program does not
// have the controller. From cmd/kube-controller-manager/names and the aliases of its flag, 1.36.
[[nodiscard]] bool is_controller_elsewhere(std::string_view name);

}  // namespace holdfast::agent
