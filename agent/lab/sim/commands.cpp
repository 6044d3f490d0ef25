#include "agent/lab/sim/commands.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "agent/lab/result/command.h"
#include "agent/lab/result/expectations.h"
#include "agent/lab/scenario/scenario_file.h"
#include "agent/lab/sim/random_scenario.h"
#include "agent/lab/sim/sim.h"
#include "agent/lab/sim/sim_options.h"
#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::agent::lab::sim {
namespace {

constexpr std::size_t seeds_bytes_max = 1 << 20;
// Seeds that are drawn stay short enough to be typed.
constexpr std::uint64_t drawn_seeds = 1'000'000'000;

Result<std::uint64_t> parse_seed(const std::string& flag, const std::string& text) {
  const auto seed = parse_int<std::uint64_t>(text);
  if (!seed) return fail(Errc::invalid, flag + ": not a number: \"" + text + "\"");
  return *seed;
}

// ------------------------------------------------------------------------------------------ sim

// Where the trace goes: a file that is written as a whole at the end, or standard output.
class TraceOutput {
 public:
  explicit TraceOutput(std::string target) : target_(std::move(target)) {}

  [[nodiscard]] std::function<void(std::string_view)> sink() {
    if (target_.empty()) return {};
    if (target_ == "-") {
      return [](std::string_view line) { (void)std::fwrite(line.data(), 1, line.size(), stdout); };
    }
    return [this](std::string_view line) { text_.append(line); };
  }

  [[nodiscard]] Status write() const {
    if (target_.empty() || target_ == "-") return {};
    return fs::atomic_write(std::filesystem::absolute(target_), text_, 0644);
  }

 private:
  std::string target_;
  std::string text_;
};

bool violates(const Scenario& scenario, SimOptions options, const std::string& invariant) {
  options.trace = {};
  const SimOutcome outcome = simulate(scenario, options);
  return outcome.result.violation && outcome.result.violation->invariant == invariant;
}

// The scenario with as few events and workloads as still violate the same invariant.
Scenario shrunk(const Scenario& scenario, const SimOptions& options) {
  const SimOutcome outcome = simulate(scenario, options);
  if (!outcome.result.violation) return scenario;
  const std::string invariant = outcome.result.violation->invariant;
  return shrink(scenario, [&options, &invariant](const Scenario& candidate) {
    return violates(candidate, options, invariant);
  });
}

void print_violation(const Violation& violation) {
  std::printf("violated: %s\n  %s, at %s\n  the last %zu events:\n", violation.invariant.c_str(),
              violation.what.c_str(), format_duration(violation.at).c_str(),
              violation.last_events.size());
  for (const std::string& line : violation.last_events) std::printf("    %s\n", line.c_str());
}

bool holds(const RunResult& result) {
  for (const ExpectationResult& each : result.expectations) {
    if (!each.met) return false;
  }
  return !result.violation;
}

// ----------------------------------------------------------------------------------------- fuzz

struct Tally {
  std::uint64_t scenarios = 0;
  std::uint64_t events = 0;
  Duration simulated{};
};

// Returns the violation, if there is one.
Result<std::optional<Violation>> play(std::uint64_t seed, Tally& tally) {
  const Scenario scenario = random_scenario(seed);
  TRY(const SimOptions options, options_of(scenario, seed));
  const SimOutcome outcome = simulate(scenario, options);
  ++tally.scenarios;
  tally.events += outcome.result.events;
  tally.simulated += outcome.result.duration;
  return outcome.result.violation;
}

void print_violation_of(std::uint64_t seed, const Violation& violation) {
  std::printf("seed %" PRIu64 ": ", seed);
  print_violation(violation);
  std::printf("play it again: holdfast-lab fuzz --replay=%" PRIu64 "\n", seed);
}

void print_tally(const Tally& tally) {
  std::printf("%" PRIu64 " scenarios, %" PRIu64 " events, %s simulated\n", tally.scenarios,
              tally.events, format_duration(tally.simulated).c_str());
}

Result<bool> replay(std::uint64_t seed) {
  const Scenario drawn = random_scenario(seed);
  TRY(SimOptions options, options_of(drawn, seed));
  const Scenario scenario = shrunk(drawn, options);
  options.trace = TraceOutput("-").sink();
  const SimOutcome outcome = simulate(scenario, options);
  std::printf("%zu of %zu events, %zu of %zu workloads\n", scenario.events.size(),
              drawn.events.size(), scenario.workloads.size(), drawn.workloads.size());
  return !outcome.result.violation;
}

// One seed in each line; "#" begins a comment.
Result<std::vector<std::uint64_t>> read_seeds(const std::string& file) {
  std::vector<std::uint64_t> seeds;
  if (file.empty()) return seeds;
  TRY(const std::string text, fs::read_all(std::filesystem::absolute(file), seeds_bytes_max));
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto seed = parse_int<std::uint64_t>(line);
    if (!seed) return fail(Errc::invalid, file + ":" + std::to_string(number) + ": not a number");
    seeds.push_back(*seed);
  }
  return seeds;
}

}  // namespace

void add_sim_command(config::Options& options, SimSettings& settings) {
  options.begin_command("sim", "play a scenario in virtual time");
  options.add_positional("SCENARIO", settings.scenario, "the YAML file of the scenario");
  options.add("set", settings.set, "change the scenario: key=value, see its documentation");
  options.add("seed", settings.seed, "seed of the random source; empty: the scenario's");
  options.add("output", settings.output, "json: print the result as JSON instead of a table");
  options.add("report", settings.report, "HTML report to write");
  options.add("trace", settings.trace, "file for the trace of all events; -: standard output");
  options.add("shrink", settings.shrink,
              "if an invariant is violated, play the shortest schedule that violates it");
  options.add(
      "skip-heartbeats", settings.skip_heartbeats,
      "for large fleets: do not play the heartbeats of healthy nodes far from a fault; they "
      "are not among the requests then");
  options.add("converge-within", settings.converge_within,
              "time after the last fault within which the cluster must recover");
}

void add_fuzz_command(config::Options& options, FuzzSettings& settings) {
  options.begin_command("fuzz", "play random scenarios until an invariant is violated");
  options.add("minutes", settings.minutes, "how long to search");
  options.add("seed", settings.seed, "seed of the first scenario; empty: a random one");
  options.add("seeds", settings.seeds, "file of seeds to play before the search");
  options.add("replay", settings.replay, "play this seed only, shortened, with its trace");
}

Result<bool> run_sim(const SimSettings& settings) {
  TRY(Scenario scenario, read_scenario(settings.scenario, settings.set));
  std::uint64_t seed = scenario.seed;
  if (!settings.seed.empty()) {
    TRY(seed, parse_seed("--seed", settings.seed));
  }
  TRY(SimOptions options, options_of(scenario, seed));
  options.converge_within = settings.converge_within;
  options.skips_heartbeats = settings.skip_heartbeats;
  for (const std::string& note : scenario.notes) {
    (void)std::fprintf(stderr, "holdfast-lab: %s\n", note.c_str());
  }
  if (settings.shrink) scenario = shrunk(scenario, options);
  TraceOutput trace(settings.trace);
  options.trace = trace.sink();
  SimOutcome outcome = simulate(scenario, options);
  if (const Status written = trace.write(); !written) return fail("--trace", written.error());
  if (settings.skip_heartbeats) {
    (void)std::fprintf(stderr, "holdfast-lab: %" PRIu64 " events, %" PRIu64 " renewals skipped\n",
                       outcome.result.events, outcome.skipped_heartbeats);
  }
  outcome.result.expectations = check_expectations(scenario, outcome.result);
  const Status shown = show_result(outcome.result, settings.report, settings.output);
  if (!shown) return fail(shown.error());
  return holds(outcome.result);
}

Result<bool> run_fuzz(const FuzzSettings& settings, const Clock& clock) {
  if (!settings.replay.empty()) {
    TRY(const std::uint64_t seed, parse_seed("--replay", settings.replay));
    return replay(seed);
  }
  if (settings.minutes < 0) return fail(Errc::invalid, "--minutes must not be negative");
  TRY(const std::vector<std::uint64_t> known, read_seeds(settings.seeds));
  std::uint64_t next = Random::from_entropy().below(drawn_seeds);
  if (!settings.seed.empty()) {
    TRY(next, parse_seed("--seed", settings.seed));
  }
  std::printf("%zu known seeds, then %d minutes from seed %" PRIu64 "\n", known.size(),
              settings.minutes, next);
  (void)std::fflush(stdout);
  Tally tally;
  const MonoTime end = clock.mono() + std::chrono::minutes(settings.minutes);
  for (std::size_t at = 0; at < known.size() || clock.mono() < end; ++at) {
    const std::uint64_t seed = at < known.size() ? known[at] : next++;
    TRY(const std::optional<Violation> violation, play(seed, tally));
    if (!violation) continue;
    print_violation_of(seed, *violation);
    print_tally(tally);
    return false;
  }
  print_tally(tally);
  return true;
}

}  // namespace holdfast::agent::lab::sim
