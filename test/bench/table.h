// Prints a row of the benchmark's table: the measured value, its budget and the figure of a
// comparable program.

#pragma once

#include <string>

namespace holdfast::bench {

void print(const std::string& what, const std::string& ours, const std::string& budget,
           const std::string& theirs);

}  // namespace holdfast::bench
