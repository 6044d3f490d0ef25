// Plays a scenario with real processes: starts a cluster, creates the workloads, performs the
// events in time, and observes what happens.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/cluster/cluster.h"
#include "agent/lab/run/convergence.h"
#include "agent/lab/run/manifests.h"
#include "agent/lab/run/objects.h"
#include "agent/lab/run/recorder.h"
#include "agent/lab/run/speed.h"
#include "platform/loop/program.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::lab::run {

struct PlayerSettings {
  std::filesystem::path data;  // an existing directory
  int speed = 1;
  bool namespaces = false;
  std::filesystem::path kubernetes = {};                 // see ClusterSettings
  std::optional<cluster::KubeletPrograms> kubelet = {};  // the same
  std::set<std::string> kubelet_nodes = {};              // the same
  std::optional<guest::Host> host = {};  // the same; the fast scenario's namespaces are its own
  std::set<std::string> spaces = {};  // the namespaces to create there, with the scenario's names
  Duration converge{};                // see RunSettings
  // How long the nodes, and then the workloads, may take until the scenario begins.
  Duration ready_limit = std::chrono::seconds(60);
  Duration complete_limit = std::chrono::seconds(30);
};

class Player {
 public:
  // All references outlive this. `stop` ends playing early.
  // `manifests` are those of the scenario.
  Player(const asio::any_io_executor& executor, const Scenario& scenario, FastScenario fast,
         std::vector<ManifestObject> manifests, PlayerSettings settings, const Clock& clock,
         const loop::Stop& stop, RunRecorder::Say say);

  // Plays the scenario, and ends all processes. The result has no expectations but that on
  // convergence. Errors: those of the Cluster and of the API server;
  // timeout (the nodes do not become ready); cancelled.
  asio::awaitable<Result<RunResult>> play();
  // The pids of processes that could not be ended.
  [[nodiscard]] const std::vector<int>& left_running() const { return left_running_; }
  // Whether everything of the run was removed from a cluster of others. Errors: those of
  // guest::remove_run(), and how to remove it.
  [[nodiscard]] const Status& cleaned() const { return cleaned_; }

 private:
  // Something to do at a time of the scenario: the beginning or the end of an event.
  struct Step {
    Duration at{};  // real
    bool begins = true;
    std::size_t event = 0;  // in the scenario's events
  };

  asio::awaitable<Status> play_all();
  asio::awaitable<Status> become_ready();
  [[nodiscard]] std::string not_ready() const;
  asio::awaitable<Status> create(std::vector<ApiObject> objects, bool jobs);
  asio::awaitable<Status> create_manifests(bool jobs);
  asio::awaitable<void> become_complete();
  asio::awaitable<Status> perform_steps();
  [[nodiscard]] Status perform(const Step& step);
  [[nodiscard]] std::vector<Step> steps() const;
  // Waits until `time`. Errors: cancelled.
  asio::awaitable<Status> wait_until(MonoTime time);
  void observe();
  void observe_events();
  // As the scenario has it: with its names of nodes and namespaces.
  [[nodiscard]] sync::Pod bare(sync::Pod pod) const;
  // In a cluster of others: removes everything of this run.
  asio::awaitable<Status> clean_up();
  asio::awaitable<void> watch_containers();
  [[nodiscard]] std::map<std::string, std::uint64_t> bytes_by_node() const;
  [[nodiscard]] Result<RunResult> result();
  // Waits until the API and the nodes agree.
  asio::awaitable<ExpectationResult> converge();
  asio::awaitable<Result<std::vector<std::string>>> compare_now();
  asio::awaitable<Result<ApiState>> read_api();

  const Scenario& scenario_;  // as it was written
  FastScenario fast_;
  std::vector<ManifestObject> manifests_;
  PlayerSettings settings_;
  const Clock& clock_;
  const loop::Stop& stop_;
  RunRecorder::Say say_;
  RunRecorder recorder_;
  cluster::Cluster cluster_;
  loop::Tasks watchers_;
  MonoTime began_{};
  std::map<std::string, std::uint64_t> bytes_before_;  // over the links, until the beginning
  std::vector<int> left_running_;
  Status cleaned_;
};

}  // namespace holdfast::agent::lab::run
