// Runs all golden cases of a folder and reports those that fail, deviate or are malformed.

#pragma once

#include <boost/json/value.hpp>
#include <filesystem>
#include <ostream>
#include <string>

namespace holdfast::cases {

struct Tally {
  int passed = 0;
  int failed = 0;
  int errors = 0;  // malformed cases, and files and folders that cannot be read
  int other = 0;   // cases of other releases, which were not run

  [[nodiscard]] bool all_passed() const { return failed == 0 && errors == 0; }
};

// Runs the cases of every *.json file in `folder`, in the order of the file names. Prints one line
// for each case that fails or that deviates for a listed reason, with its first difference, and one
// line for each case that cannot be run as it is written, with the JSON path of the first wrong
// value ("ERROR x.json name: cases[3].steps[0].at: is missing"). A file or folder that cannot be
// read, and one without cases, are one error.
void run_folder(const std::filesystem::path& folder, std::ostream& out, Tally& tally);

// The same for the parsed content of one file. `file` is its name in messages.
void run_cases(const std::string& file, const boost::json::value& content, std::ostream& out,
               Tally& tally);

}  // namespace holdfast::cases
