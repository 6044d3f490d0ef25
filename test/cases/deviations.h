// The cases from which our rules deviate on purpose, with the reasons.
//
// A failing case that is listed here counts as passed. Only two kinds of cases belong here: those
// that record a known defect of upstream, and those where we adopted the behaviour of a later
// release. Cases of the second kind must still pass with the corrections switched off.

#pragma once

#include <string_view>

namespace holdfast::cases {

// The reason why the case with this name may fail; empty if it may not.
[[nodiscard]] std::string_view deviation_of(std::string_view name);

}  // namespace holdfast::cases
