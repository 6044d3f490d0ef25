#include "platform/loop/program.h"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "platform/log.h"

namespace holdfast::loop {
namespace {

void on_signals(asio::signal_set& signals, Stop& stop) {
  signals.async_wait([&signals, &stop](const boost::system::error_code& ec, int number) {
    if (ec) return;
    if (stop.requested()) _exit(128 + number);
    log_info("stop", {{"signal", number}});
    stop.request();
    on_signals(signals, stop);
  });
}

}  // namespace

void Stop::request() {
  requested_ = true;
  changed_.notify_all();
}

asio::awaitable<void> Stop::wait() {
  while (!requested_) co_await changed_.wait();
}

int run(const Clock& clock, const Program& program) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  asio::io_context context(1);
  set_clock(context, clock);
  Stop stop(context.get_executor());
  asio::signal_set signals(context, SIGTERM, SIGINT);
  on_signals(signals, stop);

  int code = 1;
  asio::co_spawn(context, program(stop),
                 [&signals, &code](const std::exception_ptr& error, int end) {
                   signals.cancel();
                   if (error) std::rethrow_exception(error);
                   code = end;
                 });
  context.run();
  return code;
}

}  // namespace holdfast::loop
