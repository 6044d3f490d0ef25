#include "agent/lab/sim/edge.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::lab::sim {

using sync::autonomy::Evidence;
using sync::autonomy::LinkState;

namespace {

constexpr std::size_t lease_bytes = 250;  // a patch of its time

Evidence evidence_of(const Answer& answer) {
  if (answer.status == 0) return Evidence::failed;
  const bool overloaded = answer.status == too_many || answer.status == unavailable;
  return overloaded ? Evidence::overloaded : Evidence::answered;
}

}  // namespace

Edge::Process::Process(Edge& edge, Random& random)
    : link(edge.config_.link, random, edge.engine_.now()),
      path(edge.config_.link.probe_deadline),
      kubelet(edge.config_.kubelet_grace, edge.engine_.now()),
      pods(edge.engine_, edge.client_, edge.node_, ScopeOf::pods, [&edge] { edge.pods_changed(); }),
      node(edge.engine_, edge.client_, edge.node_, ScopeOf::node,
           [&edge] { edge.node_changed(); }) {}

Edge::Edge(Engine& engine, Server& server, Traffic& traffic, Link& link, std::string node,
           const EdgeConfig& config, const NodeClock& clock, EdgeDisk& disk)
    : engine_(engine),
      server_(server),
      node_(std::move(node)),
      config_(config),
      clock_(clock),
      disk_(disk),
      client_(engine, server, traffic, link, Actor::edge) {}

std::string_view Edge::link_state() const {
  return process_ ? sync::autonomy::to_string(process_->link.state()) : "not running";
}

// ------------------------------------------------------------------------------------- process

void Edge::start() {
  if (process_) return;
  started_ = engine_.now();
  engine_.trace(node_, "holdfast-edge started");
  process_ = std::make_unique<Process>(*this, link().random(Draw::agent));
  disk_.outbox.recover();
  for (const ScopeOf of : {ScopeOf::pods, ScopeOf::node}) {
    const EdgeDisk::Stored& stored = disk_.scopes[static_cast<std::size_t>(of)];
    if (!stored.complete) continue;
    scope(of).cache().restore(stored.objects, stored.version,
                              {.kind = of == ScopeOf::pods ? "Pod" : "Node", .api_version = "v1"});
  }
  reapply_outbox();
  for (Scope* each : {&process_->pods, &process_->node}) {
    each->on_timeout([this] {
      process_->link.probe_now(engine_.now());
      maintain();
    });
  }
  node_changed();
  replay_when_due();
  maintain();
}

void Edge::kill() {
  if (!process_) return;
  engine_.trace(node_, "holdfast-edge ended");
  const auto open = std::move(process_->open);
  process_.reset();
  for (const auto& [number, reply] : open) {
    engine_.after(local_delay, [reply = reply] {
      reply({.why = "connection closed", .code = Errc::unavailable});
    });
  }
  if (feed_) feed_->disconnect();
}

// ---------------------------------------------------------------------------------------- link

// Reacts to a new state of the link.
void Edge::announce() {
  const auto& link = process_->link;
  engine_.trace(node_, "link " + std::string(to_string(link.state())) + ": " + link.reason());
  switch (link.state()) {
    case LinkState::connected:
    case LinkState::suspect:
      process_->pods.start();
      process_->node.start();
      break;
    case LinkState::offline:
      process_->rejoining.end();
      process_->draining = false;
      disk_.outbox.recover();
      process_->pods.stop();
      process_->node.stop();
      break;
    case LinkState::rejoining:
      process_->pods.stop();
      process_->node.stop();
      begin_rejoin();
      break;
  }
  maintain();
}

void Edge::maintain() {
  if (process_->link.state() == LinkState::rejoining) return;
  const auto probe = [this] {
    process_->link.probing(engine_.now());
    renew_upstream(process_->life);
    maintain();
  };
  const MonoTime due = process_->link.probe_due();
  process_->probe.set(engine_, process_->life, due, [this, due, probe] {
    if (!link().quiet().is_on()) return probe();
    link().quiet().put_off(process_->life, [this, due, probe] {
      process_->kubelet.note_activity(engine_.now());
      const MonoTime next = next_in_rhythm(due, config_.link.probe_interval, engine_.now());
      process_->probe.set(engine_, process_->life, next, probe);
    });
  });
}

void Edge::record(MonoTime began, Duration limit, const Answer& answer) {
  const bool late = answer.status == 0 && answer.code == Errc::timeout;
  if (late && !process_->path.is_evidence(limit)) {
    process_->link.probe_now(engine_.now());
    return maintain();
  }
  const Duration pause = answer.status == too_many ? std::chrono::seconds(1) : Duration::zero();
  const std::string reason =
      answer.status == 0 ? answer.why : "answered " + std::to_string(answer.status);
  if (process_->link.record(engine_.now(), began, evidence_of(answer), reason, pause)) {
    announce();
  } else {
    maintain();
  }
}

void Edge::send(const Life& life, Request request, Duration limit, Done done) {
  client_.send(life, std::move(request), limit,
               [this, began = engine_.now(), limit, token = life.token(),
                done = std::move(done)](const Answer& answer) {
                 record(began, limit, answer);
                 if (!token.expired()) done(answer);
               });
}

void Edge::call(const Life& life, RequestKind kind, std::size_t bytes, Duration limit,
                std::function<Answer()> serve, Done done) {
  client_.call(life, kind, bytes, limit, std::move(serve),
               [this, began = engine_.now(), limit, token = life.token(),
                done = std::move(done)](const Answer& answer) {
                 record(began, limit, answer);
                 if (!token.expired()) done(answer);
               });
}

// --------------------------------------------------------------------------------------- lease

// As Uplink::heartbeat() in agent/edge/forward.
void Edge::heartbeat(const Life& life, std::function<Answer()> serve, Done done) {
  const Duration limit = process_->path.limit();
  client_.call(life, RequestKind::lease, lease_bytes, limit, std::move(serve),
               [this, began = engine_.now(), token = life.token(),
                done = std::move(done)](const Answer& answer) {
                 auto& path = process_->path;
                 if (answer.status != 0) path.answered(engine_.now() - began);
                 if (answer.status == 0 && answer.code == Errc::timeout) path.timed_out();
                 record(began, Duration::max(), answer);
                 if (!token.expired()) done(answer);
               });
}

// As NodeLease in agent/edge/forward: one write while nobody else has changed the lease.
void Edge::renew_upstream(const Life& life) {
  const auto read = [this] {
    const LeasePtr lease = server_.lease(node_);
    return lease ? Answer{.status = ok, .body = sync::wire::encode_bytes(*lease)}
                 : Answer{.status = not_found};
  };
  if (process_->kubelet.is_inactive(engine_.now())) {
    return heartbeat(life, read, [this, sent = engine_.now()](const Answer& answer) {
      if (answer.is_ok()) note_renewal(sent);
    });
  }
  if (process_->lease_version) return write_lease(life, WallTime{});
  heartbeat(life, read, [this, &life](const Answer& answer) {
    if (answer.status != ok && answer.status != not_found) return;
    process_->lease_version = "";
    if (answer.status == not_found) return write_lease(life, WallTime{});
    const auto lease = sync::wire::decode_bytes<sync::Lease>(answer.body);
    CHECK(lease);
    process_->lease_version = lease->metadata.resource_version;
    write_lease(life, *lease->spec.renew_time);
  });
}

WallTime Edge::next_renewal(WallTime known) {
  using std::chrono::microseconds;
  const WallTime now = std::chrono::floor<microseconds>(clock_.wall());
  const WallTime last = std::max(process_->last_renewal, known);
  process_->last_renewal = std::max(now, last + microseconds(1));
  return process_->last_renewal;
}

WallTime Edge::skip_renewal() { return next_renewal(WallTime{}); }

void Edge::save_memory() {
  process_->pods.cache().forget_events();
  process_->node.cache().forget_events();
}

bool Edge::is_idle() const {
  return process_ && process_->link.allows_reads() && disk_.outbox.entries().empty() &&
         !process_->draining && process_->open.empty() && process_->lease_version &&
         process_->pods.is_watching() && process_->node.is_watching();
}

void Edge::write_lease(const Life& life, WallTime known) {
  const WallTime renewal = next_renewal(known);
  const std::string expected = *process_->lease_version;
  heartbeat(
      life,
      [this, renewal, expected]() -> Answer {
        const LeasePtr lease = server_.lease(node_);
        const std::string version = lease ? lease->metadata.resource_version : "";
        if (version != expected) return {.status = lease ? conflict : not_found};
        const int status = server_.renew_lease(node_, renewal, Actor::edge);
        return {.status = status, .body = server_.lease(node_)->metadata.resource_version};
      },
      [this, sent = engine_.now()](const Answer& answer) {
        process_->lease_version.reset();
        if (!answer.is_ok()) return;
        process_->lease_version = answer.body;
        note_renewal(sent);
      });
}

void Edge::note_renewal(MonoTime sent) {
  process_->link.renewed(engine_.now(), sent);
  maintain();
}

void Edge::renew_lease(const Life& life, WallTime, Done done) {
  engine_.after(local_delay, life, [this, done = std::move(done)] {
    if (!process_) return done({.why = "connection refused", .code = Errc::unavailable});
    process_->kubelet.note_activity(engine_.now());
    done({.status = ok});
  });
}

// --------------------------------------------------------------------------------------- cache

NodePtr Edge::node() const { return process_ ? process_->node_object : nullptr; }

void Edge::follow_pods(PodSink& sink) {
  feed_.emplace(sink);
  if (!process_) return;
  engine_.after(local_delay, process_->life, [this] {
    if (feed_) feed_->update(process_->pods.cache());
  });
}

void Edge::unfollow_pods() { feed_.reset(); }

void Edge::node_changed() {
  process_->node_object = node_in(process_->node.cache());
  cache_changed();
}

// Which pods there are is durable at once, as in agent/edge/cache; other changes are written in
// groups.
void Edge::pods_changed() {
  cache_changed();
  const auto& stored = disk_.scopes[static_cast<std::size_t>(ScopeOf::pods)].objects;
  const auto& now = process_->pods.cache().objects();
  const bool same_pods =
      std::equal(stored.begin(), stored.end(), now.begin(), now.end(),
                 [](const auto& left, const auto& right) { return left.first == right.first; });
  if (!same_pods) flush();
}

void Edge::cache_changed() {
  if (feed_) feed_->update(process_->pods.cache());
  process_->dirty = true;
  process_->flush.set(engine_, process_->life, engine_.now() + config_.flush_interval,
                      [this] { flush(); });
}

void Edge::flush() {
  if (disk_.full || !std::exchange(process_->dirty, false)) return;
  for (const ScopeOf of : {ScopeOf::pods, ScopeOf::node}) {
    const sync::watch::WatchCache& cache = scope(of).cache();
    disk_.scopes[static_cast<std::size_t>(of)] = {cache.complete(), cache.objects(),
                                                  cache.version()};
  }
}

}  // namespace holdfast::agent::lab::sim
