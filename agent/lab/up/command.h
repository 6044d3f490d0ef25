// The commands of the cluster that stays up: `holdfast-lab up` runs it; `cut`, `heal`, `kill` and
// so on tell it from another terminal what should happen, and `status` shows it once.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/up/request.h"
#include "agent/lab/up/up.h"
#include "platform/config/options.h"
#include "platform/loop/program.h"

namespace holdfast::agent::lab::up {

// The arguments of a command to a running cluster.
struct ClientSettings {
  std::vector<std::string> words = {};  // targets, and then what the command needs
  std::string direction = {};
  std::string kind = {};
  std::string process = {};
  std::string duration = {};
  std::string by = {};
  std::string output = {};  // of status: "json"
  std::string control = control_default;
};

struct UpCommands {
  UpSettings up = {};
  ClientSettings client = {};
};

// Begins all of these subcommands. They set the fields of `commands`, which outlives `options`.
void add_up_commands(config::Options& options, UpCommands& commands);

// Whether this is the name of one of them.
[[nodiscard]] bool is_up_command(std::string_view name);

// The request of a command such as "cut". Errors: invalid (a word is missing).
[[nodiscard]] Result<Request> request_of(const std::string& command,
                                         const ClientSettings& settings);

// Runs the command `name`, until `stop` is requested if it is "up". Errors: invalid (the
// arguments), unavailable (no cluster runs), those of the cluster.
[[nodiscard]] boost::asio::awaitable<Status> run_up_command(std::string name, UpCommands commands,
                                                            loop::Stop& stop, const Clock& clock);

}  // namespace holdfast::agent::lab::up
