// holdfast-cloud: node lifecycle, taint eviction and scheduling for a cluster with edge nodes.

#include "agent/cloud/cloud_service.h"
#include "platform/proc/notify.h"
#include "platform/proc/service.h"
#include "platform/proxy/rules.h"

namespace holdfast::agent {
namespace {

int run(int argc, const char* const* argv) {
  CloudSettings settings;
  const proc::ServiceMain cloud{
      .name = "holdfast-cloud",
      .description = "Node lifecycle, taint eviction and scheduling for a cluster with edge nodes.",
      .log_level = &settings.log_level,
      .add_options = [&settings](config::Options& options) { add_options(options, settings); },
      .check = [&settings]() -> Status {
        settings.proxies = proxy::Rules::from(proc::system_environment);
        return {};
      },
      .make = [&settings](asio::any_io_executor executor, loop::Stop& stop,
                          const Clock& clock) -> Result<std::unique_ptr<proc::Service>> {
        TRY(std::unique_ptr<proc::Service> made,
            CloudService::make(std::move(executor), settings, clock, [&stop] { stop.request(); }));
        return made;
      }};
  const SystemClock clock;
  return proc::run_service(cloud, clock, argc, argv);
}

}  // namespace
}  // namespace holdfast::agent

int main(int argc, char** argv) { return holdfast::agent::run(argc, argv); }
