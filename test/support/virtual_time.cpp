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

VirtualTime::VirtualTime() { loop::set_clock(context_, clock_); }

VirtualTime::~VirtualTime() {
  settle();
  nudge_.reset();
}

void VirtualTime::settle() {
  while (run_ready()) barrier_.wait();
}

// Returns whether any handler ran.
bool VirtualTime::run_ready() {
  bool ran = false;
  for (; poll_until_quiet(); ran = true) barrier_.pass_packets();
  return ran;
}

// Returns whether any handler ran, apart from the nudge.
bool VirtualTime::poll_until_quiet() {
  // One handler may make a socket ready for another, so the loop is idle only after two polls
  // without a handler.
  std::size_t handlers = 0;
  nudges_ = 0;
  for (int quiet = 0; quiet < 2;) {
    context_.restart();
    const std::size_t ran = context_.poll();
    quiet = ran == 0 ? quiet + 1 : 0;
    handlers += ran;
  }
  return handlers > nudges_;
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
  nudge_->async_wait([this](const boost::system::error_code&) { ++nudges_; });
}

void VirtualTime::step(MonoTime end) {
  advance(end);
  settle();
}

void VirtualTime::run_one() {
  context_.restart();
  // As in settle(): one poll may find nothing although a socket becomes ready.
  if (context_.poll_one() != 0 || context_.poll_one() != 0) return;
  barrier_.wait();
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
