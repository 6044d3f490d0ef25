#include "agent/lab/cluster/pod_processes.h"

#include <csignal>

#include "agent/node/process/attempt_files.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {
namespace {

using Names = std::vector<std::string>;

template <class Use>
void each_attempt(const std::filesystem::path& data, const Use& use) {
  const fs::Path pods = data / "pods";
  for (const auto& uid : fs::list_dir(pods).value_or(Names())) {
    for (const auto& container : fs::list_dir(pods / uid).value_or(Names())) {
      const fs::Path attempts = pods / uid / container;
      for (const auto& number : fs::list_dir(attempts).value_or(Names())) {
        const auto run = node::read_run(attempts / number);
        if (!run) continue;
        use(ContainerProcess{.pod_uid = uid,
                             .container = container,
                             .attempt = parse_int<int>(number).value_or(0),
                             .shim = run->shim,
                             .process = run->process});
      }
    }
  }
}

}  // namespace

std::vector<ContainerProcess> running_containers(const std::filesystem::path& data) {
  std::vector<ContainerProcess> running;
  each_attempt(data, [&running](const ContainerProcess& each) {
    if (proc::is_alive(each.process)) running.push_back(each);
  });
  return running;
}

void kill_containers(const std::filesystem::path& data) {
  each_attempt(data, [](const ContainerProcess& each) {
    (void)proc::signal_process(each.shim, SIGKILL);
    (void)proc::signal_group(each.process, SIGKILL);
  });
}

}  // namespace holdfast::agent::lab::cluster
