#include "agent/lab/run/guest_run.h"

#include "agent/lab/cluster/api_actions.h"
#include "agent/lab/cluster/cluster.h"
#include "agent/lab/guest/leftovers.h"
#include "agent/lab/scenario/describe.h"
#include "platform/fs/file.h"
#include "platform/fs/ownership.h"

namespace holdfast::agent::lab::run {
namespace {

bool is_control_plane(Process process) {
  return process == Process::cloud || process == Process::api_server;
}

// Whether the action is on the control plane, which is not the run's own.
bool is_on_control_plane(const Action& action) {
  if (const auto* kill = std::get_if<Kill>(&action)) return is_control_plane(kill->process);
  if (const auto* pause = std::get_if<Pause>(&action)) return is_control_plane(pause->process);
  if (const auto* cut = std::get_if<Cut>(&action)) return cut->target == "cloud";
  if (const auto* heal = std::get_if<Heal>(&action)) return heal->target == "cloud";
  if (const auto* flap = std::get_if<Flap>(&action)) return flap->target == "cloud";
  if (const auto* degrade = std::get_if<Degrade>(&action)) return degrade->target == "cloud";
  return std::holds_alternative<ApiServerFault>(action);
}

void add_line(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

std::string place_in(const std::string& file, int line) {
  return line == 0 ? file : file + ":" + std::to_string(line);
}

// The settings of holdfast-cloud, which must not run beside the cluster's own controllers.
void check_settings(const Scenario& scenario, const std::string& file, std::string& problems) {
  std::string flags;
  for (const auto& [flag, value] : scenario.cloud) flags += (flags.empty() ? "" : ", ") + flag;
  if (!flags.empty()) {
    add_line(problems, file + ": cloud: " + flags +
                           ": holdfast-cloud is not started with --kubeconfig, because it would "
                           "judge all nodes of the cluster, not only those of the run, and the "
                           "cluster's own controllers judge them already");
  }
  for (const Expectation& each : scenario.expectations) {
    if (each.measure != Measure::requests) continue;
    add_line(problems, place_in(file, each.line) +
                           ": requests-per-second: the cluster's audit log is not ours");
  }
}

Status check_names(const Scenario& scenario, const guest::Guest& guest) {
  for (const Site& site : scenario.sites) {
    for (const std::string& name : cluster::nodes_of(site)) {
      if (auto fits = guest.check_name(name); !fits) return fail("node", fits.error());
    }
    if (auto fits = guest.check_name(site.zone); !fits) return fail("zone", fits.error());
  }
  for (const Workload& each : scenario.workloads) {
    if (auto fits = guest.check_name(each.namespace_name); !fits) {
      return fail("namespace", fits.error());
    }
  }
  return {};
}

std::string who(const guest::FoundRun& found) {
  return found.run + " of " + (found.owner.is_here() ? "this machine" : found.owner.host);
}

// Ends the pods that a crashed run has left on this machine; its other processes have ended with
// it. Others may write the annotation: only a directory of our own is used.
void end_processes(const guest::Owner& owner) {
  const fs::Path nodes = fs::Path(owner.data) / "nodes";
  if (!owner.is_here() || !fs::check_own_dir(nodes)) return;
  for (const std::string& node : fs::list_dir(nodes).value_or(std::vector<std::string>())) {
    cluster::kill_containers(nodes / node / "node");
  }
}

boost::asio::awaitable<Status> check_manifests(const guest::Host& host, ApiClient& client,
                                               const std::vector<ManifestObject>& manifests,
                                               const Clock& clock) {
  cluster::ApiActions api(client, clock);
  Status done;
  for (const ManifestObject& object : manifests) {
    const auto path = co_await api.collection(object.api_version, object.kind, object.space);
    if (!path) co_return fail(object.place, path.error());
    if (path->find("/namespaces/") != std::string::npos) continue;
    co_return fail(Errc::invalid, object.place + ": " + object.kind + " " + object.name +
                                      " is not in a namespace, so it would change the cluster "
                                      "for others: it cannot be created with --kubeconfig " +
                                      host.file);
  }
  co_return done;
}

}  // namespace

Status check_guest_scenario(const Scenario& scenario, const std::string& file,
                            const guest::Guest& guest) {
  std::string problems;
  for (const ScenarioEvent& event : scenario.events) {
    if (!is_on_control_plane(event.action)) continue;
    const Description description = describe(event.action);
    const std::string target = description.target.empty() ? "" : description.target + ": ";
    add_line(problems, place_in(file, event.line) + ": " + target + description.what +
                           ": the control plane of --kubeconfig is not ours");
  }
  check_settings(scenario, file, problems);
  if (!problems.empty()) return fail(Errc::invalid, problems);
  return check_names(scenario, guest);
}

boost::asio::awaitable<Status> prepare_cluster(const guest::Host& host,
                                               const std::vector<ManifestObject>& manifests,
                                               bool with_priorities, const Clock& clock,
                                               Print print) {
  CO_TRY(const auto client, guest::client_of(host, clock));
  Status done = co_await guest::check_rights(host, *client, clock, with_priorities);
  if (done) done = co_await check_manifests(host, *client, manifests, clock);
  if (!done) co_return done;
  CO_TRY(const auto runs, co_await guest::find_runs(*client, clock));
  for (const guest::FoundRun& found : runs) {
    if (!found.owner.is_here()) {
      print(who(found) +
            " has objects in the cluster; if it has ended, remove them with "
            "--clean-up");
      continue;
    }
    if (found.owner.is_alive()) continue;
    end_processes(found.owner);
    done = co_await guest::remove_run(*client, clock, found.run);
    if (!done) co_return done;
    print("removed what was left of " + who(found));
  }
  co_return done;
}

boost::asio::awaitable<Status> clean_up_cluster(std::string kubeconfig, const Clock& clock,
                                                Print print) {
  CO_TRY(const guest::Host host, guest::read_host(kubeconfig));
  CO_TRY(const auto client, guest::client_of(host, clock));
  const auto runs = co_await guest::find_runs(*client, clock);
  if (!runs) co_return fail("--kubeconfig: " + host.file, runs.error());
  Status done;
  for (const guest::FoundRun& found : *runs) {
    if (found.owner.is_here() && found.owner.is_alive()) {
      print(found.run + " still runs on this machine and is not removed");
      continue;
    }
    end_processes(found.owner);
    done = co_await guest::remove_run(*client, clock, found.run);
    if (!done) co_return fail("--kubeconfig: " + host.file, done.error());
    print("removed " + who(found));
  }
  if (runs->empty()) print("nothing is left of any run");
  co_return done;
}

}  // namespace holdfast::agent::lab::run
