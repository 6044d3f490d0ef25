#include "test/support/virtual_time.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <exception>

#include "platform/check.h"
#include "platform/loop/timer.h"

namespace holdfast::test {
namespace {

constexpr Duration step_length = std::chrono::milliseconds(20);
constexpr MonoTime nudge_due{};
// The limit for one advance, so that code that polls can check its condition in between.
constexpr int steps_max = 50;

}  // namespace

VirtualTime::VirtualTime() {
  loop::set_clock(context_, clock_);
  net::set_network(context_, network_);
}

VirtualTime::~VirtualTime() {
  settle();
  nudge_.reset();
}

void VirtualTime::settle() {
  // One handler may make another one ready, so the loop is idle only after two polls without one.
  for (int quiet = 0; quiet < 2;) {
    context_.restart();
    quiet = context_.poll() == 0 ? quiet + 1 : 0;
  }
}

// Advances to the next timer, or to `end` if that is earlier, in whole steps.
void VirtualTime::advance(MonoTime end) {
  // If only the nudge of the last step was pending, there is no timer.
  const MonoTime due = loop::LoopClock::of(context_).next_due();
  const Duration left = (due == nudge_due ? end : std::min(due, end)) - clock_.mono();
  const auto steps = (left + step_length - Duration(1)) / step_length;
  clock_.advance(step_length * std::clamp<std::int64_t>(steps, 1, steps_max));
  // The loop checks its timers only when a new earliest timer is set, so set one.
  nudge_ = std::make_unique<loop::Timer>(executor(), nudge_due);
  nudge_->async_wait([](const boost::system::error_code&) {});
}

void VirtualTime::step(MonoTime end) {
  advance(end);
  settle();
}

void VirtualTime::run_one() {
  context_.restart();
  if (context_.poll_one() == 0) advance(clock_.mono() + step_length);
}

void VirtualTime::run(Duration duration) {
  settle();
  const MonoTime end = clock_.mono() + duration;
  while (clock_.mono() < end) step(end);
}

bool VirtualTime::run_until(Duration limit, const std::function<bool()>& done) {
  settle();
  const MonoTime end = clock_.mono() + limit;
  while (!done()) {
    if (clock_.mono() >= end) return false;
    step(end);
  }
  return true;
}

void VirtualTime::complete(asio::awaitable<void> task) {
  bool ended = false;
  asio::co_spawn(context_, std::move(task), [&ended](const std::exception_ptr& error) {
    ended = true;
    if (error) std::rethrow_exception(error);
  });
  const bool in_time = run_until(std::chrono::minutes(10), [&ended] { return ended; });
  CHECK(in_time);
}

}  // namespace holdfast::test
