#include "agent/lab/run/command.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "agent/lab/cluster/node_groups.h"
#include "agent/lab/cluster/refusal.h"
#include "agent/lab/result/command.h"
#include "agent/lab/result/expectations.h"
#include "agent/lab/result/words.h"
#include "agent/lab/run/guest_run.h"
#include "agent/lab/run/kubelet_choice.h"
#include "agent/lab/run/player.h"
#include "agent/lab/scenario/scenario_file.h"
#include "platform/fs/file.h"
#include "platform/log.h"
#include "platform/proc/notify.h"
#include "platform/text.h"

namespace holdfast::agent::lab::run {
namespace {

void print(const std::string& line) { (void)std::fprintf(stderr, "%s\n", line.c_str()); }

void say(Duration at, const std::string& what) {
  const Duration shown = std::chrono::floor<std::chrono::milliseconds>(at);
  (void)std::fprintf(stderr, "%12s  %s\n", format_duration(shown).c_str(), what.c_str());
}

struct DataFolder {
  std::filesystem::path path;
  bool is_temporary = false;
};

Result<DataFolder> make_data_folder(const std::string& wanted) {
  if (!wanted.empty()) {
    const std::filesystem::path path = std::filesystem::absolute(wanted);
    if (auto made = fs::ensure_dir(path); !made) return fail("--data", made.error());
    TRY(const auto entries, fs::list_dir(path));
    if (!entries.empty()) {
      return fail(Errc::invalid, "--data: " + path.string() + " is not empty");
    }
    return DataFolder{path, false};
  }
  const std::string tmp = proc::system_environment("TMPDIR").value_or("/tmp");
  std::string name = tmp + "/holdfast-run-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return fail(Errc::unavailable, "no directory in " + tmp);
  return DataFolder{name, true};
}

Result<bool> wants_namespaces(const std::string& text) {
  if (text == "false") return false;
  if (text != "auto" && text != "true") {
    return fail(Errc::invalid, "--namespaces: \"" + text + "\" is not auto, true or false");
  }
  const bool possible = cluster::can_create_namespaces();
  if (text == "true" && !possible) {
    return fail(Errc::denied,
                "--namespaces=true: network namespaces cannot be created; run as "
                "root, or with --namespaces=false");
  }
  return possible;
}

Result<Scenario> read_playable(const RunSettings& settings) {
  if (!settings.output.empty() && settings.output != "json") {
    return fail(Errc::invalid, "--output: \"" + settings.output + "\" is not json");
  }
  if (settings.scenarios.size() != 1) {
    return fail(Errc::invalid,
                settings.scenarios.empty() ? "SCENARIO is missing" : "one SCENARIO at a time");
  }
  const std::string& file = settings.scenarios.front();
  TRY(Scenario scenario, read_scenario(file, settings.set));
  if (!settings.seed.empty()) {
    const auto seed = parse_int<std::uint64_t>(settings.seed);
    if (!seed) return fail(Errc::invalid, "--seed: not a number: \"" + settings.seed + "\"");
    scenario.seed = *seed;
  }
  if (auto playable = cluster::check_events(scenario, file); !playable) {
    return fail(playable.error());
  }
  return scenario;
}

std::size_t count_nodes(const Scenario& scenario) {
  std::size_t count = 0;
  for (const Site& site : scenario.sites) count += static_cast<std::size_t>(site.nodes);
  return count;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void introduce(const Scenario& scenario, const RunSettings& settings, const PlayerSettings& playing,
               const std::filesystem::path& data) {
  const Duration takes = scenario.duration / settings.speed;
  print(scenario.name + ": " + plural(count_nodes(scenario), "node") + ", " +
        (playing.namespaces ? "each in a network namespace of its own"
                            : "on this machine's loopback") +
        "; takes " + format_duration(std::chrono::ceil<std::chrono::seconds>(takes)));
  if (playing.host) {
    print("in the cluster of " + playing.host->file + ", as " + playing.host->guest.run +
          ": its own controllers judge the nodes; holdfast-cloud is not started");
  }
  if (playing.kubelet) {
    print("with a kubelet: " + joined(playing.kubelet_nodes));
  }
  if (settings.speed != 1) {
    print("played " + std::to_string(settings.speed) +
          " times faster: all times below are the scenario's");
  }
  print("logs and data: " + data.string());
}

// What a run in a cluster of others excludes.
Result<guest::Host> read_guest_host(const Scenario& scenario, const RunSettings& settings) {
  const auto wrong = [](const std::string& what) { return fail(Errc::invalid, what); };
  if (!settings.api_server.empty()) {
    return wrong("--kubeconfig and --api-server exclude each other");
  }
  if (!settings.kubelet.empty()) {
    return wrong(
        "--kubeconfig and --kubelet exclude each other: a kubelet would run the pods of the "
        "cluster's own DaemonSets on this machine");
  }
  if (settings.speed != 1) {
    return wrong(
        "--kubeconfig: the cluster's own controllers cannot be played faster; omit "
        "--speed");
  }
  TRY(guest::Host host, guest::read_host(settings.kubeconfig));
  const Status fits = check_guest_scenario(scenario, settings.scenarios.front(), host.guest);
  if (!fits) return fail(fits.error());
  return host;
}

// The settings of the player that the flags say.
Result<PlayerSettings> player_settings(const Scenario& scenario, const RunSettings& settings) {
  PlayerSettings playing;
  playing.speed = settings.speed;
  playing.converge = settings.converge;
  if (!settings.kubeconfig.empty()) {
    TRY(playing.host, read_guest_host(scenario, settings));
  }
  TRY(playing.namespaces, wants_namespaces(settings.namespaces));
  if (!settings.api_server.empty()) {
    playing.kubernetes = std::filesystem::absolute(settings.api_server) / "bin";
  }
  if (settings.kubelet.empty()) {
    if (!settings.kubelet_on.empty()) return fail(Errc::invalid, "--kubelet-on needs --kubelet");
    if (settings.kubelet_images.empty()) return playing;
    return fail(Errc::invalid, "--kubelet-images needs --kubelet");
  }
  const KubeletSurroundings around{.namespaces = playing.namespaces,
                                   .server_has_tls = !settings.api_server.empty(),
                                   .speed = settings.speed};
  TRY(playing.kubelet_nodes, kubelet_nodes(scenario, settings.kubelet_on, around));
  if (settings.kubelet_images.empty()) {
    return fail(Errc::invalid,
                "--kubelet needs --kubelet-images FILE; make it with test/real/images.py FILE");
  }
  TRY(playing.kubelet,
      cluster::KubeletPrograms::find(std::filesystem::absolute(settings.kubelet),
                                     std::filesystem::absolute(settings.kubelet_images),
                                     cluster::mounts_of_this_machine()));
  return playing;
}

Result<bool> conclude(const Scenario& scenario, RunResult result, const RunSettings& settings) {
  // Those that the run itself has checked come last.
  auto expectations = check_expectations(scenario, result);
  expectations.insert(expectations.end(), result.expectations.begin(), result.expectations.end());
  result.expectations = std::move(expectations);
  const Status shown = show_result(result, settings.report, settings.output);
  if (!shown) return fail(shown.error());
  return std::all_of(result.expectations.begin(), result.expectations.end(),
                     [](const ExpectationResult& each) { return each.met; });
}

}  // namespace

void add_run_command(config::Options& options, RunSettings& settings) {
  options.begin_command("run", "play a scenario with real processes and sockets");
  options.add_rest("SCENARIO", settings.scenarios, "the YAML file of the scenario");
  options.add("set", settings.set, "change the scenario: key=value, see its documentation");
  options.add("seed", settings.seed, "seed of the random source; empty: the scenario's");
  options.add("speed", settings.speed,
              "play so many times faster: durations are divided, rates multiplied");
  options.add("report", settings.report, "HTML report to write");
  options.add("output", settings.output, "json: print the result as JSON instead of a table");
  options.add("data", settings.data, "empty directory for data and logs; empty: a temporary one");
  options.add(
      "kubeconfig", settings.kubeconfig,
      "of a cluster of yours to play in, in place of one of its own: in namespaces and with "
      "nodes that only this run has, which it removes at the end");
  options.add("clean-up", settings.clean_up,
              "play nothing, and remove from the cluster of --kubeconfig what runs have left that "
              "crashed");
  options.add(
      "api-server", settings.api_server,
      "folder with bin/kube-apiserver and bin/kube-controller-manager to use in place of the "
      "lab's API server, with this machine's etcd");
  options.add("namespaces", settings.namespaces,
              "each node in a network namespace of its own: true (needs root), false, or auto");
  options.add(
      "converge", settings.converge,
      "expect that at the end nodes, leases and pods in the API become what they are on the "
      "nodes, within this real time; 0: not expected");
  options.add(
      "kubelet", settings.kubelet,
      "folder with bin/kubelet: a kubelet and this machine's containerd run the pods in place of "
      "holdfast-node; needs root and --kubelet-images");
  options.add("kubelet-images", settings.kubelet_images,
              "the archive of images for --kubelet, which test/real/images.py makes");
  options.add("kubelet-on", settings.kubelet_on,
              "the sites and nodes that have the kubelet, \"a,b-1\"; empty: all");
}

namespace {

// Prepares a cluster of others, and gives everything the names that it has there.
boost::asio::awaitable<Status> become_guest(const Scenario& scenario, const Manifests& manifests,
                                            const Clock& clock, PlayerSettings& playing,
                                            FastScenario& fast) {
  const guest::Guest& guest = playing.host->guest;
  playing.spaces = manifests.spaces;
  playing.spaces.insert("default");
  bool has_priorities = false;
  for (const Workload& each : scenario.workloads) {
    playing.spaces.insert(each.namespace_name);
    has_priorities = has_priorities || each.priority != 0;
  }
  for (Workload& each : fast.scenario.workloads) {
    each.namespace_name = guest.space(each.namespace_name);
  }
  co_return co_await prepare_cluster(*playing.host, manifests.objects, has_priorities, clock,
                                     print);
}

boost::asio::awaitable<Result<bool>> clean_up(const RunSettings& settings, const Clock& clock) {
  if (settings.kubeconfig.empty() || !settings.scenarios.empty()) {
    co_return fail(Errc::invalid, "--clean-up needs --kubeconfig and no SCENARIO");
  }
  const Status cleaned = co_await clean_up_cluster(settings.kubeconfig, clock, print);
  if (!cleaned) co_return fail(cleaned.error());
  co_return true;
}

}  // namespace

boost::asio::awaitable<Result<bool>> run_scenario(RunSettings settings, loop::Stop& stop,
                                                  const Clock& clock) {
  set_log_level(LogLevel::error);  // The progress is printed; programs have logs of their own.
  if (settings.clean_up) co_return co_await clean_up(settings, clock);
  CO_TRY(const Scenario scenario, read_playable(settings));
  CO_TRY(FastScenario fast, at_speed(scenario, settings.speed));
  CO_TRY(PlayerSettings playing, player_settings(scenario, settings));
  ManifestChanges changes{.speed = settings.speed, .default_toleration = fast.default_toleration};
  if (playing.kubelet) changes.image = cluster::pod_image;
  if (playing.host) changes.guest = playing.host->guest;
  CO_TRY(Manifests manifests, read_manifest_files(scenario.manifests, changes));
  CO_TRY(const DataFolder folder, make_data_folder(settings.data));
  playing.data = folder.path;
  if (playing.host) playing.host->guest.owner = guest::Owner::self(folder.path.string()).text();
  introduce(scenario, settings, playing, folder.path);
  for (const std::string& note : manifests.notes) print(note);
  if (playing.host) {
    const Status ready = co_await become_guest(scenario, manifests, clock, playing, fast);
    if (!ready) {
      if (folder.is_temporary) (void)fs::remove_tree(folder.path);
      co_return fail(ready.error());
    }
  }
  const auto executor = co_await boost::asio::this_coro::executor;
  Player player(executor, scenario, std::move(fast), std::move(manifests.objects),
                std::move(playing), clock, stop, say);
  auto result = co_await player.play();
  for (const int pid : player.left_running()) {
    print("process " + std::to_string(pid) + " could not be ended");
  }
  // After an error the logs are kept.
  const bool is_over = result || result.error().code == Errc::cancelled;
  if (folder.is_temporary && is_over) (void)fs::remove_tree(folder.path);
  if (!player.cleaned()) print("holdfast-lab: " + player.cleaned().error().what);
  if (!result) co_return fail(result.error());
  CO_TRY(const bool met, conclude(scenario, *std::move(result), settings));
  const bool is_good = met && player.cleaned().has_value();
  co_return is_good;
}

}  // namespace holdfast::agent::lab::run
