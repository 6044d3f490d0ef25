// holdfast-cloud in a simulation: the production controller, fed by the modelled API server over a
// link of its own, with its limits of requests. Can be killed, paused and started again.

#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/lab/sim/effects.h"
#include "agent/lab/sim/network.h"
#include "agent/lab/sim/server.h"
#include "sync/control/api_server_contact.h"
#include "sync/lifecycle/controller.h"

namespace holdfast::agent::lab::sim {

struct CloudConfig {
  sync::lifecycle::Options rules;
  sync::lifecycle::EnabledControllers enabled;
  double requests_per_second = 1000;  // holdfast-cloud's --kube-api-qps
  std::size_t at_once = 32;           // and --concurrent-node-updates
};

class Cloud {
 public:
  Cloud(Engine& engine, Server& server, const CloudConfig& config,
        EffectPerformer::MayEvict may_evict);
  Cloud(const Cloud&) = delete;
  Cloud& operator=(const Cloud&) = delete;
  ~Cloud() = default;

  void start();
  void kill();
  // While it is paused (SIGSTOP), nothing is handled; afterwards everything that arrived is.
  void pause();
  void resume();

  [[nodiscard]] Link& link() { return link_; }
  [[nodiscard]] bool is_running() const { return controller_ != nullptr; }
  [[nodiscard]] bool is_paused() const { return paused_; }
  // Null while it does not run.
  [[nodiscard]] const sync::lifecycle::Controller* controller() const { return controller_.get(); }

  // Whether it waits for nothing but its next pass.
  [[nodiscard]] bool is_idle() const;
  // While all nodes are quiet there are no passes: they would find nothing. Afterwards they go on
  // in their rhythm; before that lease_renewed() must be called for each node.
  void set_quiet(bool quiet);
  // A renewal that a quiet node skipped.
  void lease_renewed(const std::string& node, WallTime renewed);

  void step_clock(Duration by) { clock_offset_ += by; }
  // The requests that it has sent.
  [[nodiscard]] std::uint64_t requests() const { return requests_; }

 private:
  using Controller = sync::lifecycle::Controller;
  using Effect = sync::lifecycle::Effect;
  using Outcome = sync::lifecycle::Outcome;

  [[nodiscard]] sync::control::Now now() const;
  void connect();
  void list();
  void take_change(const Change& change);
  void feed(const Controller::Input& input);
  void act(std::vector<Effect> effects);
  void launch();
  void send(Effect effect);
  void request(Duration limit, std::function<Outcome()> perform,
               std::function<void(const Outcome&)> end);
  void note_answer();
  void note_failure();
  void await_probe();
  void probe();
  void arm();
  template <class T>
  void feed_all(const std::map<std::string, std::shared_ptr<const T>>& objects,
                std::set<std::string>& known);
  void when_awake(Task task);

  Engine& engine_;
  Server& server_;
  CloudConfig config_;
  EffectPerformer performer_;
  Link link_;
  Life life_;
  Link::ConnectionPtr watch_;
  std::unique_ptr<Controller> controller_;
  std::optional<sync::control::ApiServerContact> contact_;
  bool listed_ = false;
  bool paused_ = false;  // by SIGSTOP
  bool quiet_ = false;
  sync::Lease skipped_;  // the renewal in lease_renewed()
  std::vector<Task> missed_;
  std::set<std::string> nodes_;  // known to the controller
  std::set<std::string> pods_;
  std::set<std::string> leases_;
  std::array<std::deque<Effect>, sync::control::urgencies> waiting_;
  std::set<std::string> busy_;  // objects with an effect under way
  std::size_t under_way_ = 0;
  MonoTime next_request_ = MonoTime::min();
  MonoTime deadline_ = MonoTime::max();
  Timer timer_;
  Timer launching_;
  Timer probing_;
  bool probes_ = false;  // a probe is under way
  Duration clock_offset_{};
  std::uint64_t requests_ = 0;
};

}  // namespace holdfast::agent::lab::sim
