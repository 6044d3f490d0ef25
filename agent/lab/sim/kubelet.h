// A kubelet in a simulation: registers its node, renews its lease, posts statuses, and runs pods by
// the production rules of sync/runtime on containers that only exist as timers.
//
// It talks to a KubeletApi: the edge agent on its node, or the API server itself.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/sim/containers.h"
#include "agent/lab/sim/kubelet_api.h"
#include "agent/lab/sim/node_clock.h"
#include "agent/lab/sim/rest.h"
#include "sync/runtime/pod_runtime.h"

namespace holdfast::agent::lab::sim {

// Is told what happens on a node, whatever the API says.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  // "starting", "ready", "stopping", "stopped".
  virtual void container_is(const std::string& node, const std::string& pod_uid,
                            std::string_view state, int restarts) = 0;
  // The kubelet is about to stop the pod for this reason.
  virtual void pod_stops(const std::string& node, const std::string& pod_uid,
                         std::string_view why) = 0;
};

class Kubelet final : public PodSink, private sync::runtime::ConfigSource {
 public:
  // The profile of a pod: how long it starts, runs and stops.
  using ProfileOf = std::function<PodProfile(const sync::Pod&)>;

  Kubelet(Engine& engine, const Site& site, std::string name, KubeletApi& api,
          const NodeClock& clock, ProfileOf profile_of, NodeObserver& observer);
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;
  ~Kubelet() override = default;

  void start();
  // The process ends; containers go on.
  void kill();
  // The machine is off; the disk keeps the records of the pods.
  void power_off();

  [[nodiscard]] bool is_running() const { return running_; }
  // Whether it does nothing but heartbeats.
  [[nodiscard]] bool is_idle() const {
    return running_ && !settling_ && posted_at_ && reports_.empty() && sending_.empty();
  }
  [[nodiscard]] const Containers& containers() const { return containers_; }

  void take_list(std::vector<PodPtr> pods) override;
  void take_change(ChangeType type, PodPtr pod) override;

 private:
  struct Report {
    sync::runtime::PodKey pod;
    std::optional<std::string> patch = {};
    bool remove = false;
    Duration pause{};
  };

  [[nodiscard]] sync::runtime::Lookup<sync::ConfigMap> config_map(std::string_view,
                                                                  std::string_view) const override {
    return sync::runtime::Absent{};
  }
  [[nodiscard]] sync::runtime::Lookup<sync::Secret> secret(std::string_view,
                                                           std::string_view) const override {
    return sync::runtime::Absent{};
  }

  void enroll(Duration pause);
  void renew_lease();
  void post_status();
  void resume_status(MonoTime due);
  void settle_soon();
  void settle();
  void perform(const sync::runtime::RecordPod& action);
  void perform(const sync::runtime::StartContainer& action);
  void perform(const sync::runtime::SignalContainer& action);
  void perform(const sync::runtime::ReportStatus& action);
  void perform(const sync::runtime::FinalDelete& action);
  void perform(const sync::runtime::RemovePod& action);
  void send_reports();
  void send(const std::string& uid);
  void settle_report(const std::string& uid, bool removal, const Answer& answer);
  [[nodiscard]] std::string_view reason_to_stop(const std::string& uid) const;

  Engine& engine_;
  const Site& site_;
  std::string name_;
  KubeletApi& api_;
  const NodeClock& clock_;
  ProfileOf profile_of_;
  NodeObserver& observer_;
  Containers containers_;
  Life life_;
  bool running_ = false;
  std::optional<sync::runtime::PodRuntime> runtime_;
  std::map<std::string, sync::runtime::PodRecord> records_;  // on disk, by uid
  sync::runtime::DesiredPods desired_;
  std::map<std::string, PodPtr> known_;    // by namespace/name
  std::map<std::string, Report> reports_;  // by uid
  std::set<std::string> sending_;
  sync::NodeStatus status_;
  std::optional<MonoTime> posted_at_;
  bool settling_ = false;
  Timer timer_;
};

}  // namespace holdfast::agent::lab::sim
