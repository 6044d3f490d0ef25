// A fake API server with one Lease, and replicas that compete for it in virtual time.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sync/election/elector.h"

namespace holdfast::sync::election {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

inline ElectionConfig config_of(std::string identity) {
  return {.identity = std::move(identity), .name = "l", .namespace_name = "kube-system"};
}

// The fake API server: optimistic concurrency, and failures on demand.
class LeaseServer {
 public:
  [[nodiscard]] Input answer(const Action& request);

  void put(Lease lease) {
    lease.metadata.resource_version = std::to_string(++version_);
    lease_ = std::move(lease);
  }
  void erase() { lease_.reset(); }
  [[nodiscard]] const std::optional<Lease>& lease() const { return lease_; }
  [[nodiscard]] std::string holder() const { return lease_ ? lease_->spec.holder_identity : "-"; }

  bool down = false;          // requests do not arrive
  bool answers_lost = false;  // writes take effect, but their answers are lost
  bool unreadable = false;    // the lease cannot be decoded
  int writes = 0;

 private:
  std::optional<Lease> lease_;
  int version_ = 0;
};

// One replica: its elector, whose requests are answered at once.
class Replica {
 public:
  Replica(const ElectionConfig& config, std::uint64_t seed)
      : random_(seed), elector_(config, random_) {}

  void feed(MonoTime now, WallTime wall, LeaseServer& server, Input input);
  // Steps the elector if its deadline has passed, unless the replica is asleep.
  void wake(MonoTime now, WallTime wall, LeaseServer& server);

  [[nodiscard]] bool acts(MonoTime now) const { return now < elector_.may_act_until(); }
  [[nodiscard]] const Elector& elector() const { return elector_; }

  std::vector<std::string> said;  // "leads", "saw b", "lost: ...", "warn: ...", "stopped"
  bool asleep = false;            // its clock runs, but its program does not

 private:
  Random random_;
  Elector elector_;
};

class ElectionSimulation {
 public:
  explicit ElectionSimulation(int count) {
    for (int index = 0; index < count; ++index) {
      const std::string name(1, static_cast<char>('a' + index));
      replicas.push_back(
          std::make_unique<Replica>(config_of(name), static_cast<std::uint64_t>(index + 1)));
    }
  }

  void start();
  // Wakes the replicas at multiples of 10 ms. The test fails if two of them may act at the same
  // time.
  void run(Duration duration);
  // Runs until a replica other than `except` may act, at most a minute. Returns how long that took.
  [[nodiscard]] Duration run_until_led(const Replica* except = nullptr);
  [[nodiscard]] Replica* leader();
  void feed(Replica& replica, Input input) { replica.feed(now, wall, server, std::move(input)); }

  LeaseServer server;
  std::vector<std::unique_ptr<Replica>> replicas;
  MonoTime now{1h};
  WallTime wall{std::chrono::seconds(1'420'113'600)};

 private:
  // How long until the next tick at which a replica has something to do, or until `end`.
  [[nodiscard]] Duration until_next_deadline(MonoTime end) const;
};

}  // namespace holdfast::sync::election
