#include "agent/lab/up/up.h"

#include <boost/asio/this_coro.hpp>
#include <cstdlib>

#include "agent/lab/scenario/configuration.h"
#include "agent/lab/up/session.h"
#include "platform/fs/file.h"
#include "platform/log.h"
#include "platform/proc/notify.h"

namespace holdfast::agent::lab::up {
namespace {

Result<std::filesystem::path> make_data_folder(const std::string& wanted) {
  if (!wanted.empty()) {
    const std::filesystem::path path = std::filesystem::absolute(wanted);
    if (auto made = fs::ensure_dir(path); !made) return fail("--data", made.error());
    TRY(const auto entries, fs::list_dir(path));
    if (entries.empty()) return path;
    return fail(Errc::invalid, "--data: " + path.string() + " is not empty");
  }
  const std::string tmp = proc::system_environment("TMPDIR").value_or("/tmp");
  std::string name = tmp + "/holdfast-up-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return fail(Errc::unavailable, "no directory in " + tmp);
  return std::filesystem::path(name);
}

Result<UpPlan> plan_of(const FleetSettings& settings) {
  UpPlan plan;
  TRY(plan.fleet, fleet_of(settings));
  TRY(const Configuration configuration, configuration_of(plan.fleet));
  plan.rules = configuration.rules;
  TRY(run::Manifests manifests, run::read_manifest_files(plan.fleet.manifests, {}));
  for (const std::string& note : manifests.notes) Screen::say(note);
  plan.manifests = std::move(manifests.objects);
  return plan;
}

}  // namespace

void add_up_command(config::Options& options, UpSettings& settings) {
  FleetSettings& fleet = settings.fleet;
  options.begin_command("up", "run a small cluster of real processes that stays up");
  options.add("nodes", fleet.nodes, "number of nodes: edge-1, edge-2, ...; 0: 2");
  options.add("sites", fleet.sites, "sites and their nodes, such as a:2,b:3");
  options.add("scenario", fleet.scenario,
              "a scenario file: its fleet, workloads and flags; its events are not played");
  options.add("cloud-flag", fleet.cloud_flags, "a flag of holdfast-cloud: NAME=VALUE");
  options.add("edge-flag", fleet.edge_flags, "a flag of holdfast-edge: NAME=VALUE");
  options.add("data", settings.data,
              "directory for data and logs; empty: a temporary one, removed at the end");
  options.add("write-kubeconfig", settings.kubeconfig,
              "kubeconfig to write; empty: kubeconfig in the data directory");
  options.add("kubectl-context", settings.kubectl_context,
              "also add a context holdfast-lab to your own kubeconfig, and remove it at the end");
  options.add("plain", settings.plain, "print changes as lines, also on a terminal");
  options.add("control", settings.control,
              "loopback address for cut, heal and so on; port 0: a free one");
}

asio::awaitable<Status> run_up(UpSettings settings, loop::Stop& stop, const Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  set_log_level(LogLevel::off);  // the screen shows what happens
  CO_TRY(UpPlan plan, plan_of(settings.fleet));
  CO_TRY(std::filesystem::path data, make_data_folder(settings.data));
  const bool is_temporary = settings.data.empty();
  Session session(executor, std::move(settings), std::move(plan), data, clock);
  const Status done = co_await session.run(stop);
  if (done && is_temporary) {
    (void)fs::remove_tree(data);
  } else {
    Screen::say("logs and data are kept: " + data.string());
  }
  co_return done;
}

}  // namespace holdfast::agent::lab::up
