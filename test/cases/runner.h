// Runs all cases of a folder and tells what differs.

#pragma once

#include <filesystem>
#include <ostream>

namespace holdfast::cases {

struct Tally {
  int passed = 0;
  int failed = 0;
  int other = 0;  // for profiles that are not ours
};

// Every *.json file of `folder`, in order of name. One line for each case that fails, with its
// first difference; a file that cannot be read counts as one failed case.
void run_folder(const std::filesystem::path& folder, std::ostream& out, Tally& tally);

}  // namespace holdfast::cases
