// The shim: a tiny process that stays the parent of one container's process, so that the exit
// status survives whatever becomes of holdfast-node.
//
// `holdfast-node shim DIR WORKDIR`, with the launch (launch_wire.h) on standard input and DIR an
// attempt's directory (attempt_files.h). It runs the program in a session of its own and writes who
// it is to launch.json before the first instruction of it, and how it ended to exit.json. SIGTERM
// is passed on to the container's process group; SIGHUP and SIGINT are ignored. When the program
// ends, what it has left behind is killed, daemonized or not, as the first process of a container
// takes all others with it.
//
// When the shim itself is killed the program runs on; its exit status is then lost.
//
// Under systemd the unit of holdfast-node needs KillMode=process, else its restart stops the
// containers.

#pragma once

namespace holdfast::agent::node {

// The whole life of a shim; `arguments` are those after "shim". Call it before anything else is
// set up. Returns the process's exit code: 0 once exit.json is written or another shim had the
// attempt, 1 when it could not be written, 2 for wrong arguments.
[[nodiscard]] int shim_main(int count, const char* const* arguments);

}  // namespace holdfast::agent::node
