// holdfast-edge: keeps the pods of an edge node running while the cloud is unreachable.

#include "agent/edge/edge.h"
#include "platform/memory.h"
#include "platform/proc/notify.h"
#include "platform/proc/service.h"
#include "platform/proxy/rules.h"

namespace holdfast::agent {
namespace {

int run(int argc, const char* const* argv) {
  return_large_blocks();  // Returns freed memory of large lists to the kernel.
  EdgeOptions settings;
  const proc::ServiceMain edge{
      .name = "holdfast-edge",
      .description = "Keeps the pods of an edge node alive while its cloud is out of reach.",
      .log_level = &settings.log_level,
      .add_options = [&settings](config::Options& options) { add_options(options, settings); },
      .check = [&settings]() -> Status {
        if (auto good = check(settings); !good) return good;
        settings.identity.proxies = proxy::Rules::from(proc::system_environment);
        return make_paths_absolute(settings);
      },
      .make = [&settings](asio::any_io_executor executor, loop::Stop& /*stop*/,
                          const Clock& clock) -> Result<std::unique_ptr<proc::Service>> {
        TRY(std::unique_ptr<proc::Service> made, Edge::make(std::move(executor), settings, clock));
        return made;
      }};
  const SystemClock clock;
  return proc::run_service(edge, clock, argc, argv);
}

}  // namespace
}  // namespace holdfast::agent

int main(int argc, char** argv) { return holdfast::agent::run(argc, argv); }
