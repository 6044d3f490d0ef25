// The commands `holdfast-lab sim` and `holdfast-lab fuzz`.

#pragma once

#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::lab::sim {

struct SimSettings {
  std::string scenario;          // a file
  std::vector<std::string> set;  // "key=value"
  std::string seed;              // empty: the scenario's
  std::string output;            // "json": print JSON instead of a table
  std::string report;            // an HTML file to write; empty: none
  std::string trace;             // a file to write, "-": standard output; empty: none
  bool shrink = false;
  bool skip_heartbeats = false;  // of quiet nodes; see quiet.h
  Duration converge_within = std::chrono::minutes(10);
};

struct FuzzSettings {
  int minutes = 5;
  std::string seed;    // of the first scenario; empty: from the kernel's entropy
  std::string seeds;   // a file of seeds to play first; empty: none
  std::string replay;  // play this seed only, shrunk, with its trace
};

// Begin the subcommands "sim" and "fuzz".
void add_sim_command(config::Options& options, SimSettings& settings);
void add_fuzz_command(config::Options& options, FuzzSettings& settings);

// Prints the result. Returns whether no invariant was violated and all expectations are met.
// Errors: invalid (the arguments or the scenario); those of files.
[[nodiscard]] Result<bool> run_sim(const SimSettings& settings);

// Plays random scenarios until the time is over or an invariant is violated, and prints what it
// does. Returns whether none was violated. Errors: invalid (the arguments); those of the file.
[[nodiscard]] Result<bool> run_fuzz(const FuzzSettings& settings, const Clock& clock);

}  // namespace holdfast::agent::lab::sim
