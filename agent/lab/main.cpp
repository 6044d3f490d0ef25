// holdfast-lab: a control plane small enough for a laptop, and demonstrations that run on it.

#include <cstdio>

#include "agent/lab/apiserver/serve.h"
#include "agent/lab/demo/demo.h"
#include "platform/config/options.h"
#include "platform/log.h"
#include "platform/loop/program.h"

namespace {

using holdfast::Clock;
using holdfast::agent::demo::DemoSettings;
using holdfast::agent::lab::add_serve_options;
using holdfast::agent::lab::ServeSettings;
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

void add_demo(Options& options, DemoSettings& settings) {
  options.begin_command(
      "demo", "cut the link between a cloud and its nodes and check that their pods keep running");
  options.add("report", settings.report, "HTML report to write at the end");
  options.add("data", settings.data, "directory for data and logs; empty: a temporary one");
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
  Options options("holdfast-lab",
                  "A control plane for a laptop, and demonstrations that run on it.");
  options.begin_command("apiserver", "serve the Kubernetes API from one SQLite file");
  add_serve_options(options, apiserver);
  add_demo(options, demo);
  const auto parsed = options.parse(argc, argv);
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
  return serve(apiserver, clock);
}
