// The shim: a small process that is the parent of one container's process and records its exit
// status, even if holdfast-node restarts or crashes.
// Usage: `holdfast-node shim DIR WORKDIR`, with the launch (launch_wire.h) on standard input. DIR
// is an attempt's directory (attempt_files.h). The shim runs the program in a session of its own.
// It writes the program's process to launch.json before the program's first instruction, and the
// exit status to exit.json. SIGTERM is forwarded to the container's process group; SIGHUP and
// SIGINT are ignored. When the program ends, all its remaining descendants are killed, daemonized
// or not, as in a container.
// If the shim itself is killed, the program keeps running and its exit status is lost.
//
// Under systemd the unit of holdfast-node needs KillMode=process, else its restart stops the
// containers.

#pragma once

#include "platform/time.h"

namespace holdfast::agent::node {

// The main function of a shim; `arguments` are those after "shim". Call it before anything else is
// set up. Returns the process's exit code: 0 if exit.json is written or another shim has the
// attempt, 1 if exit.json could not be written, 2 for wrong arguments.
[[nodiscard]] int shim_main(const Clock& clock, int count, const char* const* arguments);

}  // namespace holdfast::agent::node
