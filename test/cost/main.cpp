// holdfast-cost NAME: does one fixed piece of work, for valgrind to count its instructions.
//
// Only what runs inside of measured_work() is counted; cost.cmake compares the number with the one
// in counts.txt.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sync/wire/codec.h"
#include "sync/wire/lease_renewal.h"
#include "test/cost/cluster.h"

namespace holdfast::cost {
namespace {

constexpr int rounds = 1000;

struct Scenario {
  std::string_view name;
  int nodes;
  int pods;
  Duration grace;
  void (*work)(Cluster&);
};

void renew_leases(Cluster& cluster) {
  for (int round = 0; round < 10 * rounds; ++round) cluster.renew();
}

void update_pods(Cluster& cluster) {
  for (int round = 0; round < rounds; ++round) cluster.update_pod();
}

void idle_passes(Cluster& cluster) {
  for (int round = 0; round < rounds; ++round) cluster.pass();
}

// What a watch of leases costs before a rule sees it.
void decode_leases(Cluster&) {
  sync::Lease lease;
  lease.metadata.name = node_name(1);
  lease.metadata.namespace_name = "kube-node-lease";
  lease.metadata.resource_version = "12345678";
  lease.spec.holder_identity = lease.metadata.name;
  lease.spec.lease_duration_seconds = 40;
  lease.spec.renew_time = WallTime(std::chrono::hours(24 * 365 * 50));
  const std::string bytes = sync::wire::encode_bytes(lease);
  for (int round = 0; round < rounds; ++round) {
    const auto decoded = sync::wire::read_renewal(bytes);
    if (!decoded) std::abort();
  }
}

constexpr Duration usual = std::chrono::seconds(50);
constexpr Duration longer = std::chrono::hours(1000);

constexpr Scenario scenarios[] = {{"lease_renewal", 1000, 0, usual, renew_leases},
                                  {"pod_update", 100, 1000, usual, update_pods},
                                  {"idle_pass", 1000, 1000, longer, idle_passes},
                                  {"lease_decode", 1, 0, usual, decode_leases}};

}  // namespace

// Known to cost.cmake by its name: it must stay one function of its own.
[[gnu::noinline]] void measured_work(void (*work)(Cluster&), Cluster& cluster);
void measured_work(void (*work)(Cluster&), Cluster& cluster) { work(cluster); }

namespace {

int run(std::string_view name) {
  for (const Scenario& scenario : scenarios) {
    if (scenario.name != name) continue;
    Cluster cluster(scenario.nodes, scenario.pods, scenario.grace);
    measured_work(scenario.work, cluster);
    return 0;
  }
  (void)std::fprintf(stderr, "holdfast-cost: no such work\n");
  return 2;
}

}  // namespace
}  // namespace holdfast::cost

int main(int argc, char** argv) { return holdfast::cost::run(argc > 1 ? argv[1] : ""); }
