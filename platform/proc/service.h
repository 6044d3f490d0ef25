// A daemon's main(): parses flags, sets the log level, starts the service, reports to the service
// manager, handles signals and stops.
//
// Exit codes: 0: stopped on request, or --help; 1: failed while running; 2: could not start.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "platform/config/options.h"
#include "platform/loop/program.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::proc {

namespace asio = boost::asio;

// The daemon itself. stop() is called once, even if start() failed.
class Service {
 public:
  virtual ~Service() = default;
  // An error ends the process with exit code 2.
  [[nodiscard]] virtual Status start() = 0;
  // Stops gracefully by `deadline`.
  virtual asio::awaitable<void> stop(MonoTime deadline) = 0;
  // The error if the service requested the stop itself; success if it was asked to stop.
  [[nodiscard]] virtual Status final_status() const { return {}; }
};

struct ServiceMain {
  std::string name;
  std::string description;
  std::string* log_level = nullptr;  // the field that --log-level sets
  std::function<void(config::Options&)> add_options;
  std::function<Status()> check;  // validates the options after parsing
  // Creates the service. `stop` and `clock` outlive it.
  std::function<Result<std::unique_ptr<Service>>(asio::any_io_executor, loop::Stop& stop,
                                                 const Clock& clock)>
      make;
};

// Runs the service by `clock`. Returns the exit code.
[[nodiscard]] int run_service(const ServiceMain& service, const Clock& clock, int argc,
                              const char* const* argv);

}  // namespace holdfast::proc
