// The table at the end of the run: each attack, its result, and the peak memory of its victims.

#pragma once

#include <string>

namespace holdfast::attack {

// Budgets of resident memory, in KiB, while a program is attacked.
inline constexpr long edge_budget = 64 * 1024;
inline constexpr long cloud_budget = 128 * 1024;

// Records a peak of a program in the current attack, in KiB; the highest one counts.
void note_peak(const std::string& program, long kib);
[[nodiscard]] long noted_peak(const std::string& program);
// Adds a remark on the current attack to the table.
void note(const std::string& text);
// Prints the table after all attacks. main calls it once.
void install_report();

}  // namespace holdfast::attack
