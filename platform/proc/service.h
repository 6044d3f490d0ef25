// A daemon's main(): flags, log level, start, the service manager, signals, the end.
//
// Exit codes: 0 asked to stop, or --help; 1 it failed while it ran; 2 it could not start.

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

// What runs inside. stop() is called once, also after a start() that failed.
class Service {
 public:
  virtual ~Service() = default;
  // Errors end the process.
  [[nodiscard]] virtual Status start() = 0;
  // Ends orderly by `deadline`.
  virtual asio::awaitable<void> stop(MonoTime deadline) = 0;
  // Why it has requested the stop itself; success when it was asked to.
  [[nodiscard]] virtual Status verdict() const { return {}; }
};

struct ServiceMain {
  std::string name;
  std::string description;
  std::string* log_level = nullptr;  // one of the options
  std::function<void(config::Options&)> add_options;
  std::function<Status()> check;  // of what the options hold now
  // `stop` and `clock` outlive what it makes.
  std::function<Result<std::unique_ptr<Service>>(asio::any_io_executor, loop::Stop& stop,
                                                 const Clock& clock)>
      make;
};

// Returns the exit code.
[[nodiscard]] int run_service(const ServiceMain& service, int argc, const char* const* argv);

}  // namespace holdfast::proc
