// The command `holdfast-lab up`: a cluster of real processes that runs until it is stopped, with
// its live view and its control interface.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "agent/lab/up/fleet.h"
#include "platform/config/options.h"
#include "platform/loop/program.h"

namespace holdfast::agent::lab::up {

inline constexpr const char* control_default = "127.0.0.1:7445";

struct UpSettings {
  FleetSettings fleet = {};
  std::string data = {};         // empty: a temporary directory, removed at the end
  std::string kubeconfig = {};   // file to write; empty: DATA/kubeconfig
  bool kubectl_context = false;  // also add a context to the user's own kubeconfig
  bool plain = false;            // lines instead of the live view
  std::string control = control_default;
};

// Begins the subcommand "up". It sets the fields of `settings`, which outlives `options`.
void add_up_command(config::Options& options, UpSettings& settings);

// Runs the cluster until `stop` is requested. Errors: invalid (the arguments or the scenario),
// those of the cluster's processes, the files and the control interface.
[[nodiscard]] boost::asio::awaitable<Status> run_up(UpSettings settings, loop::Stop& stop,
                                                    const Clock& clock);

}  // namespace holdfast::agent::lab::up
