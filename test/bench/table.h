// The lines that the benchmark prints: what was measured, beside its budget and another's figure.

#pragma once

#include <string>

namespace holdfast::bench {

void print(const std::string& what, const std::string& ours, const std::string& budget,
           const std::string& theirs);

}  // namespace holdfast::bench
