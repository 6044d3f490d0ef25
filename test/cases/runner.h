// Runs all golden cases of a folder and reports those that fail or deviate.

#pragma once

#include <filesystem>
#include <ostream>

namespace holdfast::cases {

struct Tally {
  int passed = 0;
  int failed = 0;
  int other = 0;  // cases of other releases, which were not run
};

// Runs the cases of every *.json file in `folder`, in the order of the file names. Prints one line
// for each case that fails or that deviates for a listed reason, with its first difference. A file
// or folder that cannot be read, and a folder without cases, count as one failed case.
void run_folder(const std::filesystem::path& folder, std::ostream& out, Tally& tally);

}  // namespace holdfast::cases
