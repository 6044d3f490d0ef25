// A run in a cluster that others use, too: what it refuses, and what it does before and after.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <vector>

#include "agent/lab/guest/host.h"
#include "agent/lab/run/manifests.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::run {

// What of a run cannot be played in a cluster of others, because it would disturb them or has no
// effect there. Errors: invalid, naming the lines or keys, and why. `file` is the scenario's.
[[nodiscard]] Status check_guest_scenario(const Scenario& scenario, const std::string& file,
                                          const guest::Guest& guest);

// Shows a line.
using Print = std::function<void(const std::string&)>;

// Checks the user's rights and that the manifests are no objects outside of namespaces, and removes
// what runs of this machine have left that have ended. Errors: those of check_rights(); invalid,
// naming the manifest; those of the server.
boost::asio::awaitable<Status> prepare_cluster(const guest::Host& host,
                                               const std::vector<ManifestObject>& manifests,
                                               bool with_priorities, const Clock& clock,
                                               Print print);

// Removes what runs have left, also those of other machines, but not those that still run here.
// Errors: those of read_host() and of the server.
boost::asio::awaitable<Status> clean_up_cluster(std::string kubeconfig, const Clock& clock,
                                                Print print);

}  // namespace holdfast::agent::lab::run
