#include "test/unit/sync/election/election_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::sync::election {
namespace {

constexpr Duration tick = 10ms;

}  // namespace

using namespace election;  // NOLINT(google-build-using-namespace)

Input LeaseServer::answer(const Action& request) {
  const Failed broken{{Errc::unavailable, "connection refused"}};
  if (down) return broken;
  if (std::holds_alternative<Read>(request)) {
    if (!lease_) return Missing{};
    if (unreadable) return Failed{{Errc::corrupt, "spec: expected an object"}};
    return Found{*lease_};
  }
  ++writes;
  const auto* create = std::get_if<Create>(&request);
  const Lease& wanted = create != nullptr ? create->lease : std::get<Update>(request).lease;
  if (create != nullptr && lease_) return Failed{{Errc::conflict, "already exists"}};
  if (create == nullptr && !lease_) return Failed{{Errc::not_found, "no such lease"}};
  if (create == nullptr && wanted.metadata.resource_version != lease_->metadata.resource_version) {
    return Failed{{Errc::conflict, "changed"}};
  }
  put(wanted);
  if (answers_lost) return broken;
  return Written{*lease_};
}

void Replica::feed(MonoTime now, WallTime wall, LeaseServer& server, Input input) {
  for (const Action& action : elector_.step(now, wall, std::move(input))) {
    if (std::holds_alternative<BecameLeader>(action)) {
      said.emplace_back("leads");
    } else if (const auto* saw = std::get_if<SawLeader>(&action)) {
      said.push_back("saw " + saw->identity);
    } else if (const auto* lost = std::get_if<LostLeadership>(&action)) {
      said.push_back("lost: " + lost->why);
    } else if (const auto* replaced = std::get_if<DataReplaced>(&action)) {
      said.push_back(replaced->why);
    } else if (const auto* warn = std::get_if<Warn>(&action)) {
      said.push_back("warn: " + warn->what);
    } else if (std::holds_alternative<Stopped>(action)) {
      said.emplace_back("stopped");
    } else {
      feed(now, wall, server, server.answer(action));
    }
  }
}

void Replica::wake(MonoTime now, WallTime wall, LeaseServer& server) {
  if (asleep || now < elector_.deadline()) return;
  feed(now, wall, server, TimePassed{});
}

void ElectionSimulation::start() {
  for (const auto& replica : replicas) feed(*replica, Started{});
}

// A replica may cease to act as time passes, but begins to act only when it is woken. So nothing is
// missed between two deadlines.
Duration ElectionSimulation::until_next_deadline(MonoTime end) const {
  MonoTime next = end;
  for (const auto& replica : replicas) {
    if (!replica->asleep) next = std::min(next, replica->elector().deadline());
  }
  const auto ticks = (next - now + tick - 1ns) / tick;
  return std::max<std::int64_t>(ticks, 1) * tick;
}

void ElectionSimulation::run(Duration duration) {
  const MonoTime end = now + duration;
  while (now < end) {
    const Duration passed = until_next_deadline(end);
    now += passed;
    wall += passed;
    int acting = 0;
    for (const auto& replica : replicas) {
      replica->wake(now, wall, server);
      acting += replica->acts(now) ? 1 : 0;
    }
    ASSERT_LE(acting, 1) << "two act at once";
  }
}

Duration ElectionSimulation::run_until_led(const Replica* except) {
  const MonoTime begin = now;
  while (now - begin < 60s) {
    Replica* found = leader();
    if (found != nullptr && found != except) break;
    run(10ms);
  }
  return now - begin;
}

Replica* ElectionSimulation::leader() {
  for (const auto& replica : replicas) {
    if (replica->acts(now)) return replica.get();
  }
  return nullptr;
}

}  // namespace holdfast::sync::election
