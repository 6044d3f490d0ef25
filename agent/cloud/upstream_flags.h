// The flags of kube-controller-manager that have no effect here: those of other controllers, of its
// logging and profiling, and those by which it authenticates callers of its metrics. Whoever moves
// from there keeps the command line; a warning names the flags.

#pragma once

#include <string>
#include <vector>

#include "platform/config/options.h"

namespace holdfast::agent {

// Accepts these flags and appends the names of those that are given to `given`, which must outlive
// the parsing. Refuses --master by name, because the server would not be the one that was meant.
void accept_upstream_flags(config::Options& options, std::vector<std::string>& given);

}  // namespace holdfast::agent
