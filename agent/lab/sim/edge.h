// holdfast-edge in a simulation: the production rules of the link, the lease, offline writes, the
// outbox and the rejoin, with a cache of the node's pods and Node that is kept on a modelled disk.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/lab/sim/kubelet_api.h"
#include "agent/lab/sim/node_clock.h"
#include "agent/lab/sim/outbox.h"
#include "agent/lab/sim/scope.h"
#include "sync/autonomy/kubelet_health.h"
#include "sync/autonomy/link.h"
#include "sync/autonomy/path_time.h"
#include "sync/watch/resume.h"

namespace holdfast::agent::lab::sim {

// The flags of holdfast-edge that matter here, with its defaults.
struct EdgeConfig {
  sync::autonomy::LinkConfig link;
  Duration lease_duration = std::chrono::seconds(40);
  Duration kubelet_grace = std::chrono::seconds(40);
  Duration read_deadline = std::chrono::seconds(2);
  Duration write_deadline = std::chrono::seconds(10);
  Duration rejoin_jitter = std::chrono::seconds(3);
  Duration flush_interval = std::chrono::seconds(2);
};

// What survives the end of the process.
struct EdgeDisk {
  EdgeDisk(Engine& engine, const std::string& node) : outbox(engine, node) {}

  struct Stored {
    bool complete = false;
    sync::watch::WatchCache::Objects objects;
    sync::objects::Version version = 0;
  };
  std::array<Stored, 2> scopes;  // by ScopeOf
  Outbox outbox;
  sync::objects::Version last_local = sync::objects::first_local_version;
  bool full = false;
};

// Between a kubelet and the agent on its node.
inline constexpr Duration local_delay = std::chrono::microseconds(200);

class Edge final : public KubeletApi {
 public:
  Edge(Engine& engine, Server& server, Traffic& traffic, Link& link, std::string node,
       const EdgeConfig& config, const NodeClock& clock, EdgeDisk& disk);
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;
  ~Edge() override = default;

  void start();
  void kill();
  [[nodiscard]] bool is_running() const { return process_ != nullptr; }
  // When it was started last.
  [[nodiscard]] MonoTime started() const { return started_; }
  [[nodiscard]] std::string_view link_state() const;

  void renew_lease(const Life& life, WallTime now, Done done) override;
  void write(const Life& life, Request request, Done done) override;
  [[nodiscard]] NodePtr node() const override;
  void follow_pods(PodSink& sink) override;
  void unfollow_pods() override;
  [[nodiscard]] Link& link() override { return client_.link(); }

  // Whether it is connected and does nothing but heartbeats.
  [[nodiscard]] bool is_idle() const;
  // The time of a renewal that is not sent, because the node is quiet.
  [[nodiscard]] WallTime skip_renewal();
  // Frees what only clients that reconnect would need. It must be idle.
  void save_memory();

 private:
  // The state of one process.
  struct Process {
    Process(Edge& edge, Random& random);

    Life life;
    sync::autonomy::Link link;
    sync::autonomy::PathTime path;
    sync::autonomy::KubeletHealth kubelet;
    Scope pods;
    Scope node;
    Timer probe;
    Timer flush;
    Life rejoining;
    sync::watch::Resumption resumption;
    // The lease as it was read or written last; nothing: it must be read first.
    std::optional<std::string> lease_version;
    WallTime last_renewal{};
    bool draining = false;
    bool dirty = false;
    std::optional<MonoTime> replay_rests;  // since then: the outbox was empty
    NodePtr node_object;                   // decoded from its scope
    // The kubelet's requests that wait for the API server, by number.
    std::map<std::uint64_t, Done> open;
    std::uint64_t connections = 0;
  };
  using Stage = std::function<void(bool done)>;

  // edge.cpp: process, link and lease.
  void announce();
  void maintain();
  void record(MonoTime began, Duration limit, const Answer& answer);
  void send(const Life& life, Request request, Duration limit, Done done);
  void call(const Life& life, RequestKind kind, std::size_t bytes, Duration limit,
            std::function<Answer()> serve, Done done);
  void heartbeat(const Life& life, std::function<Answer()> serve, Done done);
  void renew_upstream(const Life& life);
  void write_lease(const Life& life, WallTime known);
  void note_renewal(MonoTime sent);
  [[nodiscard]] WallTime next_renewal(WallTime known);
  void node_changed();
  void pods_changed();
  void cache_changed();
  void flush();
  [[nodiscard]] Scope& scope(ScopeOf of) {
    return of == ScopeOf::pods ? process_->pods : process_->node;
  }

  // edge_rejoin.cpp
  void begin_rejoin();
  void renew_meanwhile();
  void end_rejoin(bool done, const std::string& why);
  void check_node();
  // Watches from `resume_from` on or, if that is "", lists; then waits until that has begun to
  // work.
  void refresh(ScopeOf of, std::string resume_from, Task then);
  void await_refresh(ScopeOf of, MonoTime since, MonoTime deadline, Task then);
  void refresh_in_turns();
  void catch_up();
  void drain(Stage then);
  void drain_next(const Life& life, Stage then);
  void send_entry(const Life& life, std::uint64_t id, Stage then);
  void send_patch(const Life& life, std::uint64_t id, const Answer& theirs, Stage then);
  void send_write(const Life& life, std::uint64_t id, const std::string& body, Stage then);
  void settle(const Life& life, std::uint64_t id, bool is_read, const Answer& answer, Stage then);
  void replay_when_due();
  void replay_if_due();
  void resume_replay();

  // edge_offline.cpp
  void forward(const Life& life, Request request, sync::autonomy::Admission admission, Done done);
  [[nodiscard]] Answer accept(const Request& request, sync::autonomy::Admission admission);
  [[nodiscard]] Scope* scope_of(const sync::objects::RequestInfo& info);
  void apply(const sync::objects::RequestInfo& info, const sync::autonomy::LocalOutcome& outcome,
             sync::objects::Version version);
  void reapply_outbox();
  void check_not_heartbeat(const sync::objects::RequestInfo& info, std::string_view current,
                           const sync::autonomy::QueuedWrite& write);

  Engine& engine_;
  Server& server_;
  std::string node_;
  EdgeConfig config_;
  const NodeClock& clock_;
  EdgeDisk& disk_;
  NodeClient client_;
  std::unique_ptr<Process> process_;
  MonoTime started_ = Engine::start;
  std::optional<PodFeed> feed_;
};

}  // namespace holdfast::agent::lab::sim
