// What the suite prints at its end: each attack, what came of it, and its victims' peak memory.

#pragma once

#include <string>

namespace holdfast::attack {

// Budgets of resident memory, in KiB, while a program is attacked.
inline constexpr long edge_budget = 64 * 1024;
inline constexpr long cloud_budget = 128 * 1024;

// The highest peak of a program in the present attack, in KiB.
void note_peak(const std::string& program, long kib);
[[nodiscard]] long noted_peak(const std::string& program);
// What the attack showed, for the table.
void note(const std::string& text);
// Prints the table when all attacks are over; called once, by main.
void install_report();

}  // namespace holdfast::attack
