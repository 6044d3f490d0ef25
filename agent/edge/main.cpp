// holdfast-edge: keeps the pods of an edge node alive while the cloud is out of reach.

#include <boost/asio/this_coro.hpp>
#include <cstdio>

#include "agent/edge/edge.h"
#include "agent/edge/runtime/shim.h"
#include "platform/log.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/proc/watchdog.h"

namespace holdfast::agent {
namespace {

int refuse(const Error& error) {
  (void)std::fprintf(stderr, "holdfast-edge: %s\n", error.what.c_str());
  return 2;
}

asio::awaitable<int> serve(loop::Stop& stop, const EdgeOptions& options, const Clock& clock) {
  auto edge = Edge::make(co_await asio::this_coro::executor, options, clock);
  if (!edge) co_return refuse(edge.error());
  if (auto started = (*edge)->start(); !started) {
    co_await (*edge)->stop(clock.mono());
    co_return refuse(started.error());
  }
  auto notifier = proc::Notifier::from(proc::system_environment);
  if (!notifier) co_return refuse(notifier.error());
  if (auto told = notifier->ready(); !told) log_warn("not announced", {{"error", told.error()}});
  loop::Tasks watchdog(co_await asio::this_coro::executor);
  watchdog.spawn("watchdog", proc::feed_watchdog(*notifier));
  co_await stop.wait();
  (void)notifier->stopping();
  watchdog.cancel();
  co_await watchdog.join();
  co_await (*edge)->stop(clock.mono() + loop::drain_limit);
  co_return 0;
}

int run(int argc, const char* const* argv) {
  // The parent of one container's process: before anything else of the agent is set up.
  if (argc > 1 && std::string_view(argv[1]) == "shim") return shim_main(argc - 2, argv + 2);
  EdgeOptions settings;
  config::Options options("holdfast-edge",
                          "Keeps the pods of an edge node alive while its cloud is out of reach.");
  add_options(options, settings);
  const auto parsed = options.parse(argc, argv);
  if (!parsed) return refuse(parsed.error());
  if (!parsed->to_print.empty()) return std::fputs(parsed->to_print.c_str(), stdout) < 0 ? 1 : 0;
  if (auto good = check(settings); !good) return refuse(good.error());
  const auto level = parse_log_level(settings.log_level);
  if (!level) return refuse(level.error());
  set_log_level(*level);
  const SystemClock clock;
  return loop::run([&settings, &clock](loop::Stop& stop) { return serve(stop, settings, clock); });
}

}  // namespace
}  // namespace holdfast::agent

int main(int argc, char** argv) { return holdfast::agent::run(argc, argv); }
