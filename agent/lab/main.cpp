// holdfast-lab: a control plane small enough for a laptop, faults on demand, and a demonstration.

#include <cstdio>
#include <string_view>
#include <vector>

#include "agent/lab/apiserver/serve.h"
#include "agent/lab/demo/demo.h"
#include "agent/lab/faults/proxy_command.h"
#include "agent/lab/hollow/command.h"
#include "agent/lab/result/command.h"
#include "agent/lab/run/command.h"
#include "agent/lab/sim/commands.h"
#include "agent/lab/up/command.h"
#include "platform/config/options.h"
#include "platform/log.h"
#include "platform/loop/program.h"

namespace {

using holdfast::Clock;
using holdfast::agent::demo::DemoSettings;
using holdfast::agent::faults::ProxySettings;
using holdfast::agent::hollow::NodesSettings;
using holdfast::agent::lab::add_serve_options;
using holdfast::agent::lab::ServeSettings;
using holdfast::agent::lab::run::RunSettings;
using holdfast::agent::lab::sim::FuzzSettings;
using holdfast::agent::lab::sim::SimSettings;
using holdfast::agent::lab::up::UpCommands;
using holdfast::config::Options;

// Returns the exit code: 2 for wrong arguments, else 1.
int failed(const holdfast::Error& error) {
  (void)std::fprintf(stderr, "holdfast-lab: %s\n", error.what.c_str());
  return error.code == holdfast::Errc::invalid ? 2 : 1;
}

int wrong(const char* what) { return failed({holdfast::Errc::invalid, what, {}}); }

boost::asio::awaitable<int> run_apiserver(ServeSettings settings, holdfast::loop::Stop& stop,
                                          const Clock& clock) {
  const holdfast::Status served =
      co_await holdfast::agent::lab::serve(std::move(settings), stop, clock);
  if (served) co_return 0;
  const int code = failed(served.error());
  co_return code;
}

boost::asio::awaitable<int> run_hollow_nodes(NodesSettings settings, holdfast::loop::Stop& stop,
                                             const Clock& clock) {
  const holdfast::Status ran =
      co_await holdfast::agent::hollow::run_nodes(std::move(settings), stop, clock);
  if (ran) co_return 0;
  const int code = failed(ran.error());
  co_return code;
}

void add_demo(Options& options, DemoSettings& settings) {
  options.begin_command(
      "demo", "cut the link between a cloud and its nodes and check that their pods keep running");
  options.add("report", settings.report, "HTML report to write at the end");
  options.add("data", settings.data, "directory for data and logs; empty: a temporary one");
}

int finished(const holdfast::Status& status) { return status ? 0 : failed(status.error()); }

// Replaces kubectl's "-o json" by the long flag, because Options has no short flags.
std::vector<const char*> with_long_output(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  for (const char*& word : words) {
    if (std::string_view(word) == "-o") word = "--output";
    if (std::string_view(word) == "-ojson") word = "--output=json";
  }
  return words;
}

boost::asio::awaitable<int> run_proxy(ProxySettings settings, holdfast::loop::Stop& stop,
                                      const Clock& clock) {
  namespace faults = holdfast::agent::faults;
  if (faults::is_client_command(settings)) {
    const auto text = co_await faults::call_proxies(std::move(settings), clock);
    if (!text) co_return failed(text.error());
    (void)std::fputs(text->c_str(), stdout);
    co_return 0;
  }
  const holdfast::Status served = co_await faults::serve_proxies(std::move(settings), stop, clock);
  if (served) co_return 0;
  co_return failed(served.error());
}

boost::asio::awaitable<int> run_up(std::string command, UpCommands settings,
                                   holdfast::loop::Stop& stop, const Clock& clock) {
  const holdfast::Status ran = co_await holdfast::agent::lab::up::run_up_command(
      std::move(command), std::move(settings), stop, clock);
  if (ran) co_return 0;
  const int code = failed(ran.error());
  co_return code;
}

// Simulations fail with 1 if they show that something does not hold.
int exit_code(const holdfast::Result<bool>& holds) {
  if (!holds) return failed(holds.error());
  return *holds ? 0 : 1;
}

boost::asio::awaitable<int> play_scenario(RunSettings settings, holdfast::loop::Stop& stop,
                                          const Clock& clock) {
  const auto holds =
      co_await holdfast::agent::lab::run::run_scenario(std::move(settings), stop, clock);
  co_return exit_code(holds);
}

int serve(const ServeSettings& settings, const Clock& clock) {
  if (settings.data.empty()) return wrong("--data is missing");
  if (settings.certificate_lifetime <= holdfast::Duration::zero()) {
    return wrong("--certificate-lifetime must be above zero");
  }
  return holdfast::loop::run(clock, [&settings, &clock](holdfast::loop::Stop& stop) {
    return run_apiserver(settings, stop, clock);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::SystemClock clock;
  ServeSettings apiserver;
  DemoSettings demo;
  holdfast::agent::lab::ReportSettings report;
  holdfast::agent::lab::CompareSettings compare;
  ProxySettings proxy;
  NodesSettings nodes;
  RunSettings run;
  SimSettings sim;
  FuzzSettings fuzz;
  Options options("holdfast-lab",
                  "A control plane for a laptop, faults on demand, and a demonstration.");
  options.begin_command("apiserver", "serve the Kubernetes API from one SQLite file");
  add_serve_options(options, apiserver);
  add_demo(options, demo);
  holdfast::agent::faults::add_proxy_options(options, proxy);
  options.begin_command("nodes", "run hollow nodes against any API server, and silence them");
  add_nodes_options(options, nodes);
  holdfast::agent::lab::run::add_run_command(options, run);
  holdfast::agent::lab::sim::add_sim_command(options, sim);
  holdfast::agent::lab::sim::add_fuzz_command(options, fuzz);
  UpCommands up;
  add_up_commands(options, up);
  holdfast::agent::lab::add_report_command(options, report);
  holdfast::agent::lab::add_compare_command(options, compare);
  const std::vector<const char*> words = with_long_output(argc, argv);
  const auto parsed = options.parse(argc, words.data());
  if (!parsed) return failed(parsed.error());
  if (!parsed->to_print.empty()) {
    (void)std::fputs(parsed->to_print.c_str(), stdout);
    return 0;
  }
  if (parsed->command == "demo") {
    if (demo.report.empty()) return wrong("--report is missing");
    return holdfast::loop::run(clock, [&demo, &clock](holdfast::loop::Stop& stop) {
      return holdfast::agent::demo::run_demo(demo, stop, clock);
    });
  }
  if (parsed->command == "report") return finished(run_report(report));
  if (parsed->command == "compare") return finished(run_compare(compare));
  if (parsed->command == "proxy") {
    return holdfast::loop::run(clock, [&proxy, &clock](holdfast::loop::Stop& stop) {
      return run_proxy(proxy, stop, clock);
    });
  }
  if (parsed->command == "nodes") {
    return holdfast::loop::run(clock, [&nodes, &clock](holdfast::loop::Stop& stop) {
      return run_hollow_nodes(nodes, stop, clock);
    });
  }
  if (holdfast::agent::lab::up::is_up_command(parsed->command)) {
    return holdfast::loop::run(clock, [&parsed, &up, &clock](holdfast::loop::Stop& stop) {
      return run_up(parsed->command, up, stop, clock);
    });
  }
  if (parsed->command == "run") {
    return holdfast::loop::run(clock, [&run, &clock](holdfast::loop::Stop& stop) {
      return play_scenario(run, stop, clock);
    });
  }
  if (parsed->command == "sim") return exit_code(holdfast::agent::lab::sim::run_sim(sim));
  if (parsed->command == "fuzz") return exit_code(holdfast::agent::lab::sim::run_fuzz(fuzz, clock));
  return serve(apiserver, clock);
}
