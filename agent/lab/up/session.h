// A cluster of real processes that runs until it is stopped, with its live view and its control
// interface.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/cluster/cluster.h"
#include "agent/lab/run/manifests.h"
#include "agent/lab/up/control.h"
#include "agent/lab/up/event_log.h"
#include "agent/lab/up/kubectl_context.h"
#include "agent/lab/up/node_marks.h"
#include "agent/lab/up/observer.h"
#include "agent/lab/up/pending.h"
#include "agent/lab/up/screen.h"
#include "agent/lab/up/up.h"

namespace holdfast::agent::lab::up {

// What the cluster is made of.
struct UpPlan {
  Scenario fleet;
  std::vector<run::ManifestObject> manifests;
  sync::lifecycle::Options rules;  // of holdfast-cloud
};

class Session final : public Operator {
 public:
  // `data` is an existing directory. `clock` outlives this.
  Session(const asio::any_io_executor& executor, UpSettings settings, UpPlan plan,
          std::filesystem::path data, const Clock& clock);

  // Starts everything, and ends it when `stop` is requested. Errors: those of the control
  // interface, the cluster's processes, the kubeconfig and kubectl.
  asio::awaitable<Status> run(loop::Stop& stop);

  [[nodiscard]] View view() const override;
  asio::awaitable<Result<std::vector<std::string>>> perform(Request request) override;

 private:
  [[nodiscard]] cluster::ClusterSettings cluster_settings() const;
  [[nodiscard]] cluster::ClusterReports reports();
  asio::awaitable<Status> start(asio::any_io_executor executor);
  asio::awaitable<Status> create_workloads();
  [[nodiscard]] Status write_access();
  void introduce();
  asio::awaitable<void> refresh();
  [[nodiscard]] Status change(Verb verb, const ScenarioEvent& event);
  void note_restored(const Target& target);
  asio::awaitable<void> end_later(ScenarioEvent event, std::uint64_t ticket);
  asio::awaitable<Status> shut_down();
  void log(std::string text) { events_.add(clock_.mono() - started_, std::move(text)); }
  [[nodiscard]] ContextTarget context_target();

  UpSettings settings_;
  Scenario fleet_;
  std::vector<run::ManifestObject> manifests_;
  sync::lifecycle::Options rules_;
  std::filesystem::path data_;
  const Clock& clock_;
  MonoTime started_;
  std::string kubeconfig_;
  bool is_up_ = false;
  bool has_context_ = false;
  EventLog events_;
  NodeMarks marks_;
  PendingEnds pending_;
  Screen screen_;
  View last_;
  cluster::Cluster cluster_;
  std::unique_ptr<Observer> observer_;
  Control control_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::lab::up
