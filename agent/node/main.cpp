// holdfast-node: runs the pods of a node behind holdfast-edge, in the place of a kubelet.

#include <string_view>

#include "agent/node/node_agent.h"
#include "agent/node/process/shim.h"
#include "platform/proc/notify.h"
#include "platform/proc/service.h"
#include "platform/proxy/rules.h"

namespace holdfast::agent::node {
namespace {

int run(int argc, const char* const* argv) {
  const SystemClock system;
  // The shim of one container. It must not set up any other part of this program.
  if (argc > 1 && std::string_view(argv[1]) == "shim") {
    return shim_main(system, argc - 2, argv + 2);
  }
  NodeOptions settings;
  const proc::ServiceMain node{
      .name = "holdfast-node",
      .description = "Runs the pods of a node as a client of holdfast-edge, for labs and tests.",
      .log_level = &settings.log_level,
      .add_options = [&settings](config::Options& options) { add_options(options, settings); },
      .check = [&settings]() -> Status {
        if (auto good = check(settings); !good) return good;
        settings.proxies = proxy::Rules::from(proc::system_environment);
        return make_paths_absolute(settings);
      },
      .make = [&settings](asio::any_io_executor executor, loop::Stop& /*stop*/,
                          const Clock& clock) -> Result<std::unique_ptr<proc::Service>> {
        TRY(std::unique_ptr<proc::Service> made,
            NodeAgent::make(std::move(executor), settings, clock));
        return made;
      }};
  return proc::run_service(node, system, argc, argv);
}

}  // namespace
}  // namespace holdfast::agent::node

int main(int argc, char** argv) { return holdfast::agent::node::run(argc, argv); }
