// Programs of this machine's distribution that the lab starts.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent::lab::cluster {

// A program, and the Debian package that contains it.
struct MachineProgram {
  std::string_view name;
  std::string_view package;
};

// PATH, and after it the folders of programs for root, which PATH may lack.
[[nodiscard]] std::string machine_path();

// Where the program is. Errors: not_found, naming `flag`, which needs it, the program and the
// package.
[[nodiscard]] Result<std::filesystem::path> find_machine_program(std::string_view flag,
                                                                 const MachineProgram& program);

}  // namespace holdfast::agent::lab::cluster
