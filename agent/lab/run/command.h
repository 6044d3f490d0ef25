// The command `holdfast-lab run`: plays a scenario with real processes and sockets.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/loop/program.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::lab::run {

struct RunSettings {
  std::vector<std::string> scenarios;  // a file; none with `clean_up`
  std::vector<std::string> set;        // "key=value"
  std::string seed;                    // empty: the scenario's
  int speed = 1;
  std::string report;               // an HTML file to write; empty: none
  std::string output;               // "json": print JSON instead of a table
  std::string data;                 // directory for data and logs; empty: a temporary one
  std::string kubeconfig;           // of a cluster that others use, too; empty: one of its own
  bool clean_up = false;            // only remove what runs have left there
  std::string api_server;           // folder of Kubernetes' own programs; empty: the lab's
  std::string namespaces = "auto";  // "auto", "true" or "false"
  std::string kubelet;              // folder with bin/kubelet; empty: holdfast-node
  std::string kubelet_images;       // archive of the images for it
  Duration converge{};              // how long API and nodes may differ at the end; 0: any time
  std::string kubelet_on;           // the sites and nodes that have it, "a,b-1"; empty: all
};

// Begins the subcommand "run".
void add_run_command(config::Options& options, RunSettings& settings);

// Plays the scenario, prints what happens to standard error and the result to standard output.
// Returns whether all expectations are met. Errors: invalid (arguments, the scenario, or what real
// processes cannot play); those of Player::play() and of files.
boost::asio::awaitable<Result<bool>> run_scenario(RunSettings settings, loop::Stop& stop,
                                                  const Clock& clock);

}  // namespace holdfast::agent::lab::run
