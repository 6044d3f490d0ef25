// Runs an exec credential plug-in as a child process: no shell, no terminal, a time limit for its
// whole process group, and limits on what it prints.

#pragma once

#include "agent/client/credential_plugin.h"

namespace holdfast::agent {

// Returns the plug-in's standard output if it ends with exit code 0. Its standard error is logged,
// except that of a successful run. Errors: not_found with the hint for the installation; denied;
// unavailable (another exit code, or a signal); timeout (it was killed); exhausted (it printed too
// much, and was killed).
asio::awaitable<Result<std::string>> run_plugin(const ExecConfig& config,
                                                const PluginLimits& limits, MonoTime deadline);

}  // namespace holdfast::agent
