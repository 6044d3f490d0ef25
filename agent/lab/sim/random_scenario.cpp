#include "agent/lab/sim/random_scenario.h"

#include <algorithm>
#include <array>
#include <utility>

#include "platform/random.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration faults_from = minutes(3);
constexpr Duration faults_until = minutes(40);
constexpr Duration quiet = minutes(16);  // without faults, at the end

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Scenario make() {
    scenario_.name = "random";
    add_sites();
    add_workloads();
    add_flags();
    const std::uint64_t events = 1 + random_.below(10);
    for (std::uint64_t each = 0; each < events; ++each) add_event();
    std::stable_sort(scenario_.events.begin(), scenario_.events.end(),
                     [](const auto& left, const auto& right) { return left.at < right.at; });
    Duration end = faults_until;
    for (const ScenarioEvent& event : scenario_.events) {
      end = std::max(end, event.at + event.duration.value_or(Duration::zero()));
    }
    scenario_.duration = end + quiet;
    return std::move(scenario_);
  }

 private:
  [[nodiscard]] bool chance(double probability) { return random_.unit() < probability; }

  template <class T, std::size_t size>
  [[nodiscard]] T pick(const std::array<T, size>& choices) {
    return choices[random_.below(size)];
  }

  [[nodiscard]] Duration between(Duration least, Duration most) {
    return least + random_.jitter(most - least);
  }

  void add_sites() {
    const std::uint64_t sites = 1 + random_.below(3);
    for (std::uint64_t number = 0; number < sites; ++number) {
      Site site{.name = std::string(1, static_cast<char>('a' + number)),
                .nodes = static_cast<int>(1 + random_.below(4)),
                .link = link(),
                .agent = chance(0.75) ? NodeAgent::holdfast : NodeAgent::none};
      site.zone = site.name;
      if (chance(0.5)) site.annotations["node.beta.openyurt.io/autonomy"] = "true";
      scenario_.sites.push_back(std::move(site));
    }
  }

  [[nodiscard]] LinkProfile link() {
    LinkProfile profile;
    profile.name = "random";
    profile.up.latency = profile.down.latency =
        pick(std::array<Duration, 3>{milliseconds(2), milliseconds(40), milliseconds(300)});
    profile.up.jitter = profile.down.jitter = profile.up.latency / 4;
    if (chance(0.3)) profile.up.loss = profile.down.loss = 0.02;
    if (chance(0.2)) profile.up.rate = profile.down.rate = 50'000;
    return profile;
  }

  void add_workloads() {
    constexpr std::array kinds{WorkloadKind::deployment, WorkloadKind::daemon_set,
                               WorkloadKind::stateful_set, WorkloadKind::job};
    const std::uint64_t workloads = 1 + random_.below(4);
    for (std::uint64_t number = 0; number < workloads; ++number) {
      Workload workload{.kind = pick(kinds),
                        .name = "w" + std::to_string(number + 1),
                        .replicas = static_cast<int>(1 + random_.below(4))};
      if (chance(0.5)) workload.on = scenario_.sites[random_.below(scenario_.sites.size())].name;
      if (chance(0.3)) workload.min_available = 1;
      if (chance(0.3)) {
        const auto limit = static_cast<std::int64_t>(random_.below(120));
        workload.tolerations.push_back(
            {.key = "node.kubernetes.io/unreachable", .effect = "NoExecute", .seconds = limit});
      }
      workload.start = between(milliseconds(100), seconds(20));
      workload.stop = between({}, seconds(40));
      workload.run_time = between(seconds(5), minutes(10));
      if (workload.kind != WorkloadKind::job) workload.run_time = {};
      scenario_.workloads.push_back(std::move(workload));
    }
  }

  void add_flags() {
    if (chance(0.3)) scenario_.cloud["node-monitor-grace-period"] = "90s";
    if (chance(0.2)) scenario_.cloud["eviction-mode"] = "evict";
    if (chance(0.2)) scenario_.cloud["autonomy-mode"] = "openyurt";
    if (chance(0.3)) scenario_.cloud["node-eviction-rate"] = "1";
  }

  [[nodiscard]] Target target() {
    if (chance(0.1)) return "all";
    const Site& site = scenario_.sites[random_.below(scenario_.sites.size())];
    if (chance(0.4)) return site.name;
    return site.name + "-" +
           std::to_string(1 + random_.below(static_cast<std::uint64_t>(site.nodes)));
  }

  // Only of nodes with an agent: after a clock was ahead, the leases of a plain kubelet count for
  // nothing until its clock has caught up, which is how upstream defines them.
  [[nodiscard]] Action clock_step() {
    for (const Site& site : scenario_.sites) {
      if (site.agent != NodeAgent::holdfast || chance(0.5)) continue;
      return ClockStep{site.name, between(-std::chrono::hours(24), std::chrono::hours(24))};
    }
    return Rollout{workload()};
  }

  [[nodiscard]] std::string workload() {
    return scenario_.workloads[random_.below(scenario_.workloads.size())].name;
  }

  void add_event() {
    ScenarioEvent event;
    event.at = between(faults_from, faults_until);
    event.duration = chance(0.5) ? between(seconds(1), seconds(60)) : between({}, minutes(20));
    event.action = action();
    const bool is_once = std::holds_alternative<Rollout>(event.action) ||
                         std::holds_alternative<DeletePods>(event.action);
    if (is_once) event.duration.reset();
    scenario_.events.push_back(std::move(event));
  }

  [[nodiscard]] Action action() {
    constexpr std::array directions{Direction::both, Direction::both, Direction::up,
                                    Direction::down};
    constexpr std::array cuts{CutKind::black_hole, CutKind::refuse, CutKind::reset};
    constexpr std::array processes{Process::kubelet, Process::edge, Process::cloud,
                                   Process::api_server};
    constexpr std::array faults{ApiFault::unavailable,  ApiFault::overloaded,
                                ApiFault::silent_watch, ApiFault::gone,
                                ApiFault::not_api,      ApiFault::bad_certificate};
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return Cut{target(), pick(directions), pick(cuts)};
      case 3:
        return Flap{target(), between(seconds(1), seconds(60)), between(seconds(1), seconds(60)),
                    pick(cuts)};
      case 4:
        return PowerLoss{target()};
      case 5:
      case 6:
        return Kill{pick(processes), target()};
      case 7:
        return clock_step();
      case 8:
        return Rollout{workload()};
      case 9:
        return DeletePods{workload(), ""};
      case 10:
        return ApiServerFault{pick(faults)};
      default:
        return Degrade{target(), link()};
    }
  }

  Random random_;
  Scenario scenario_;
};

// Removes the elements of a list one by one, as long as that keeps the failure.
template <class List>
bool shrink_list(Scenario& scenario, List Scenario::*list,
                 const std::function<bool(const Scenario&)>& fails) {
  bool smaller = false;
  for (std::size_t at = (scenario.*list).size(); at-- > 0;) {
    Scenario candidate = scenario;
    (candidate.*list).erase((candidate.*list).begin() + static_cast<std::ptrdiff_t>(at));
    if (!fails(candidate)) continue;
    scenario = std::move(candidate);
    smaller = true;
  }
  return smaller;
}

}  // namespace

Scenario random_scenario(std::uint64_t seed) { return Generator(seed).make(); }

Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails) {
  bool smaller = true;
  while (smaller) {
    smaller = shrink_list(scenario, &Scenario::events, fails);
    smaller = shrink_list(scenario, &Scenario::workloads, fails) || smaller;
  }
  return scenario;
}

}  // namespace holdfast::agent::lab::sim
