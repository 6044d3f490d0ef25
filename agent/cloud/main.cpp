// holdfast-cloud: node lifecycle and taint eviction for a cluster with edge nodes.

#include <boost/asio/this_coro.hpp>
#include <cstdio>

#include "agent/cloud/daemon.h"
#include "platform/log.h"
#include "platform/loop/program.h"
#include "platform/proc/notify.h"

namespace holdfast::agent {
namespace {

int refuse(const Error& error) {
  (void)std::fprintf(stderr, "holdfast-cloud: %s\n", error.what.c_str());
  return 2;
}

asio::awaitable<int> serve(loop::Stop& stop, const CloudSettings& settings, const Clock& clock) {
  auto daemon = Daemon::make(co_await asio::this_coro::executor, settings, clock);
  if (!daemon) co_return refuse(daemon.error());
  const auto notifier = proc::Notifier::from(proc::system_environment);
  (*daemon)->start();
  if (notifier) (void)notifier->ready();
  co_await stop.wait();
  if (notifier) (void)notifier->stopping();
  co_await (*daemon)->stop(clock.mono() + loop::drain_limit);
  co_return 0;
}

int run(int argc, const char* const* argv) {
  CloudSettings settings;
  config::Options options("holdfast-cloud",
                          "Node lifecycle and taint eviction for a cluster with edge nodes.");
  add_options(options, settings);
  const auto parsed = options.parse(argc, argv);
  if (!parsed) return refuse(parsed.error());
  if (!parsed->to_print.empty()) return std::fputs(parsed->to_print.c_str(), stdout) < 0 ? 1 : 0;
  const auto level = parse_log_level(settings.log_level);
  if (!level) return refuse(level.error());
  set_log_level(*level);
  const SystemClock clock;
  return loop::run([&settings, &clock](loop::Stop& stop) { return serve(stop, settings, clock); });
}

}  // namespace
}  // namespace holdfast::agent

int main(int argc, char** argv) { return holdfast::agent::run(argc, argv); }
