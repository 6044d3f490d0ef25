#include "platform/proc/service.h"

#include <boost/asio/this_coro.hpp>
#include <cstdio>

#include "platform/log.h"
#include "platform/loop/tasks.h"
#include "platform/proc/watchdog.h"

namespace holdfast::proc {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_refused = 2;

int refuse(const ServiceMain& main, const Error& error) {
  (void)std::fprintf(stderr, "%s: %s\n", main.name.c_str(), error.what.c_str());
  return exit_refused;
}

asio::awaitable<int> serve(const ServiceMain& main, loop::Stop& stop, const Clock& clock) {
  const auto notifier = Notifier::from(system_environment);
  if (!notifier) co_return refuse(main, notifier.error());
  auto service = main.make(co_await asio::this_coro::executor, stop, clock);
  if (!service) co_return refuse(main, service.error());
  if (const Status started = (*service)->start(); !started) {
    co_await (*service)->stop(clock.mono());
    co_return refuse(main, started.error());
  }
  if (const Status told = notifier->ready(); !told) {
    log_warn("cannot report readiness to the service manager", {{"error", told.error()}});
  }
  loop::Tasks watchdog(co_await asio::this_coro::executor);
  watchdog.spawn("watchdog", feed_watchdog(*notifier));
  co_await stop.wait();
  (void)notifier->stopping();
  watchdog.cancel();
  co_await watchdog.join();
  co_await (*service)->stop(clock.mono() + loop::drain_limit);
  const Status final_status = (*service)->final_status();
  if (final_status) co_return 0;
  log_error("ended", {{"why", final_status.error().what}});
  co_return exit_failed;
}

}  // namespace

int run_service(const ServiceMain& service, const Clock& clock, int argc, const char* const* argv) {
  config::Options options(service.name, service.description);
  service.add_options(options);
  const auto parsed = options.parse(argc, argv);
  if (!parsed) return refuse(service, parsed.error());
  if (!parsed->to_print.empty()) return std::fputs(parsed->to_print.c_str(), stdout) < 0 ? 1 : 0;
  if (const Status good = service.check(); !good) return refuse(service, good.error());
  const auto level = parse_log_level(*service.log_level);
  if (!level) return refuse(service, level.error());
  set_log_level(*level);
  const auto body = [&service, &clock](loop::Stop& stop) { return serve(service, stop, clock); };
  return loop::run(clock, body);
}

}  // namespace holdfast::proc
