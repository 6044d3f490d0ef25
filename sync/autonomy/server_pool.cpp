#include "sync/autonomy/server_pool.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::autonomy {

std::optional<LbMode> parse_lb_mode(std::string_view text) {
  if (text == "rr") return LbMode::rr;
  if (text == "priority") return LbMode::priority;
  return std::nullopt;
}

std::string_view to_string(ServerHealth health) {
  switch (health) {
    case ServerHealth::untried:
      return "untried";
    case ServerHealth::healthy:
      return "healthy";
    case ServerHealth::failed:
      return "failed";
  }
  UNREACHABLE();
}

ServerPool::ServerPool(const ServerPoolConfig& config, std::size_t servers, Random& random,
                       MonoTime now)
    : config_(config), random_(random), servers_(servers), last_(servers - 1) {
  CHECK(servers > 0);
  CHECK(config.probe_backoff_min > Duration::zero());
  CHECK(config.probe_backoff_max >= config.probe_backoff_min);
  for (Server& server : servers_) {
    server.since = now;
    server.reason = "not tried yet";
    server.backoff = config.probe_backoff_min;
  }
}

std::size_t ServerPool::next(std::optional<std::size_t> but) {
  const bool choice = any_in_rotation();
  // With `priority` the search starts at the first server, unless none is in rotation; otherwise
  // after the server used last.
  const std::size_t first = choice && config_.mode == LbMode::priority ? 0 : last_ + 1;
  std::optional<std::size_t> second_best;
  for (std::size_t step = 0; step < size(); ++step) {
    const std::size_t candidate = (first + step) % size();
    if (choice && servers_[candidate].health == ServerHealth::failed) continue;
    if (candidate != but) return last_ = candidate;
    second_best = candidate;
  }
  CHECK(second_best);
  return last_ = *second_best;
}

bool ServerPool::record(MonoTime now, MonoTime began, std::size_t server, Evidence evidence,
                        std::string_view reason) {
  monotonic_.check(now);
  Server& heard = servers_.at(server);
  if (began < heard.since) return false;
  heard.reason = reason;
  if (evidence == Evidence::overloaded) return false;
  const bool good = evidence == Evidence::answered;
  const ServerHealth health = good ? ServerHealth::healthy : ServerHealth::failed;
  if (heard.health == health) return false;
  // A server that fails again soon after its recovery keeps its backoff.
  const bool lasted = now - heard.since >= config_.probe_backoff_max;
  if (!good && lasted) heard.backoff = config_.probe_backoff_min;
  heard.health = health;
  heard.since = now;
  if (good) {
    heard.probe_due = MonoTime::max();
  } else {
    plan_probe(now, heard);
  }
  return true;
}

bool ServerPool::any_in_rotation() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const Server& server) { return server.health != ServerHealth::failed; });
}

MonoTime ServerPool::probe_due() const {
  if (!any_in_rotation()) return MonoTime::max();
  MonoTime due = MonoTime::max();
  for (const Server& server : servers_) due = std::min(due, server.probe_due);
  return due;
}

std::optional<std::size_t> ServerPool::take_probe(MonoTime now) {
  monotonic_.check(now);
  if (probe_due() > now) return std::nullopt;
  for (std::size_t i = 0; i < size(); ++i) {
    if (servers_[i].probe_due > now) continue;
    plan_probe(now, servers_[i]);
    return i;
  }
  UNREACHABLE();
}

void ServerPool::plan_probe(MonoTime now, Server& server) {
  // Half of the wait is fixed, so that jitter never turns the backoff into a busy loop.
  server.probe_due = now + server.backoff / 2 + random_.jitter(server.backoff / 2);
  server.backoff = std::min(server.backoff * 2, config_.probe_backoff_max);
}

}  // namespace holdfast::sync::autonomy
