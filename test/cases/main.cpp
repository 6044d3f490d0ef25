// holdfast-cases [DIR...]: runs the golden cases in the folders against the pure rules. Exits with
// 0 if all passed, 1 if a case failed or is malformed, and 2 for an unknown option or after an
// unexpected exception.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "test/cases/runner.h"

namespace {

int run(std::vector<std::string> folders) {
  if (folders.empty()) folders.emplace_back("../shared/cases/lifecycle");
  holdfast::cases::Tally tally;
  for (const std::string& folder : folders) {
    if (folder == "--help" || folder == "-h") {
      std::cout << "usage: holdfast-cases [DIR...]\n";
      return 0;
    }
    if (folder.starts_with('-')) {
      std::cerr << "holdfast-cases: unknown option " << folder << "\n";
      return 2;
    }
  }
  for (const std::string& folder : folders) {
    holdfast::cases::run_folder(folder, std::cout, tally);
  }
  std::cout << tally.passed << " passed, " << tally.failed << " failed";
  if (tally.errors > 0) std::cout << ", " << tally.errors << " errors";
  if (tally.other > 0) std::cout << ", " << tally.other << " of other releases not run";
  std::cout << "\n";
  return tally.all_passed() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "holdfast-cases: " << error.what() << "\n";
    return 2;
  }
}
