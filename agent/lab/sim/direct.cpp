#include "agent/lab/sim/direct.h"

#include <utility>

namespace holdfast::agent::lab::sim {
namespace {

constexpr Duration client_limit = std::chrono::seconds(10);
constexpr std::size_t lease_update_bytes = 450;
// client-go closes a connection that is silent for 30 s and does not answer a ping within 15 s.
constexpr Duration ping_interval = std::chrono::seconds(15);
constexpr Duration silence_max = std::chrono::seconds(45);

}  // namespace

DirectApi::DirectApi(Engine& engine, Server& server, Traffic& traffic, Link& link, std::string node)
    : engine_(engine),
      server_(server),
      node_(std::move(node)),
      client_(engine, server, traffic, link, Actor::kubelet) {}

void DirectApi::renew_lease(const Life& life, WallTime now, Done done) {
  client_.call(
      life, RequestKind::lease, lease_update_bytes, client_limit,
      [this, now]() -> Answer {
        return {.status = server_.renew_lease(node_, now, Actor::kubelet)};
      },
      std::move(done));
}

void DirectApi::write(const Life& life, Request request, Done done) {
  client_.send(life, std::move(request), client_limit, std::move(done));
}

NodePtr DirectApi::node() const { return node_scope_ ? node_in(node_scope_->cache()) : nullptr; }

void DirectApi::follow_pods(PodSink& sink) {
  unfollow_pods();
  feed_.emplace(sink);
  pods_.emplace(engine_, client_, node_, ScopeOf::pods, [this] { feed_->update(pods_->cache()); });
  node_scope_.emplace(engine_, client_, node_, ScopeOf::node, [] {});
  pods_->start();
  node_scope_->start();
  ping();
}

void DirectApi::unfollow_pods() {
  following_.end();
  pods_.reset();
  node_scope_.reset();
  feed_.reset();
  silent_since_.reset();
}

void DirectApi::ping() {
  engine_.after(ping_interval, following_, [this] { ping(); });
  if (!client_.link().is_cut()) {
    silent_since_.reset();
    return;
  }
  if (!silent_since_) silent_since_ = engine_.now();
  if (engine_.now() - *silent_since_ < silence_max) return;
  silent_since_.reset();
  client_.link().reset_all();
}

}  // namespace holdfast::agent::lab::sim
