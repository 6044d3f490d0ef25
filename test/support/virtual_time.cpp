#include "test/support/virtual_time.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <cstdio>
#include <ctime>
#include <exception>

#include "platform/check.h"
#include "platform/loop/randomness.h"
#include "platform/loop/tasks.h"
#include "platform/loop/workers.h"

namespace holdfast::test {
namespace {

thread_local int virtual_times = 0;  // that exist on this thread
std::atomic<bool> forbidden = false;

void refuse_if_forbidden(const char* call) {
  if (virtual_times == 0 && !forbidden) return;
  const std::string what = std::string(call) +
                           ": a test in virtual time, or a unit test, opens a socket of the "
                           "kernel; use MemoryNetwork, or move the test to test/system";
  check_failed(__FILE__, __LINE__, what.c_str());
}

std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec now{};
  CHECK(clock_gettime(clock, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Notices that handlers run for ever.
class Watchdog {
 public:
  Watchdog(VirtualTime& watched, const Patience& patience)
      : watched_(watched), patience_(patience) {}

  // Called for each handler.
  void on_handler() {
    if (++handlers_ % between_checks != 0) return;
    if (real_begin_ == real_begin_.zero()) {
      real_begin_ = time_of(CLOCK_MONOTONIC);
      cpu_begin_ = time_of(CLOCK_THREAD_CPUTIME_ID);
    }
    if (!has_warned_ && time_of(CLOCK_MONOTONIC) - real_begin_ >= patience_.warn_after) {
      has_warned_ = true;
      (void)std::fprintf(stderr, "virtual time has not advanced for %d s; tasks: %s\n",
                         static_cast<int>(patience_.warn_after.count()), watched_.tasks().c_str());
    }
    if (time_of(CLOCK_THREAD_CPUTIME_ID) - cpu_begin_ >= patience_.end_after) {
      check_failed(__FILE__, __LINE__,
                   ("virtual time does not advance; tasks: " + watched_.tasks()).c_str());
    }
  }

 private:
  static constexpr std::uint64_t between_checks = 256;

  VirtualTime& watched_;
  const Patience& patience_;
  std::uint64_t handlers_ = 0;
  bool has_warned_ = false;
  std::chrono::nanoseconds real_begin_{};
  std::chrono::nanoseconds cpu_begin_{};
};

constexpr Duration step_length = std::chrono::milliseconds(20);
// The limit for one advance of run_until(), so that it checks its condition in between.
constexpr int steps_between_checks = 50;

}  // namespace

bool forbid_sockets() {
  forbidden = true;
  return true;
}

VirtualTime::VirtualTime(const Patience& patience) : patience_(patience) {
  ++virtual_times;
  loop::set_clock(context_, clock_);
  net::set_network(context_, network_);
  loop::set_seed(context_, 1);
  loop::forbid_threads(context_);
}

VirtualTime::~VirtualTime() {
  settle();
  --virtual_times;
}

void VirtualTime::settle() {
  // One handler may make another one ready, so the loop is idle only after two polls without one.
  Watchdog watchdog(*this, patience_);
  for (int quiet = 0; quiet < 2;) {
    context_.restart();
    quiet = context_.poll_one() == 0 ? quiet + 1 : 0;
    watchdog.on_handler();
  }
}

// Advances to the next timer, or to `end` if that is earlier, in whole steps of at least one.
void VirtualTime::advance(MonoTime end) {
  // If the loop has a timer, it is due later: settle() has run those that were due.
  const MonoTime now = clock_.mono();
  const MonoTime due = loop::LoopClock::of(context_).next_due();
  const Duration left = (due <= now ? end : std::min(due, end)) - now;
  const auto steps = (left + step_length - Duration(1)) / step_length;
  clock_.advance(step_length * std::max<std::int64_t>(steps, 1));
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
    step(std::min(end, clock_.mono() + step_length * steps_between_checks));
  }
  return true;
}

void VirtualTime::complete(asio::awaitable<void> task) {
  bool ended = false;
  asio::co_spawn(context_, std::move(task), [&ended](const std::exception_ptr& error) {
    ended = true;
    if (error) std::rethrow_exception(error);
  });
  expect_in_time([&ended] { return ended; });
}

void VirtualTime::finish() {
  // A poll of an empty loop stops it.
  expect_in_time([this] { return context_.stopped(); });
}

void VirtualTime::expect_in_time(const std::function<bool()>& done) {
  if (run_until(std::chrono::minutes(10), done)) return;
  check_failed(__FILE__, __LINE__, ("a task waits for ever; tasks: " + tasks()).c_str());
}

std::string VirtualTime::tasks() {
  std::string list;
  for (const std::string& name : loop::running_tasks(context_)) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list.empty() ? "none" : list;
}

}  // namespace holdfast::test

// In place of those of the C library, which whoever opens a socket calls.
extern "C" int socket(int domain, int type, int protocol) noexcept {
  holdfast::test::refuse_if_forbidden("socket");
  return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

extern "C" int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  holdfast::test::refuse_if_forbidden("socketpair");
  return static_cast<int>(syscall(SYS_socketpair, domain, type, protocol, ends));
}

// In place of those of the C library, which Asio calls. Its loop checks its timers whenever this
// descriptor can be read. That of virtual time always can, so that the loop checks them at each
// poll. The kernel would be slow to set a timer at each step, and know nothing of this time.
extern "C" int timerfd_create(clockid_t clock, int flags) noexcept {
  if (holdfast::test::virtual_times > 0) return eventfd(1, EFD_CLOEXEC);
  return static_cast<int>(syscall(SYS_timerfd_create, clock, flags));
}

extern "C" int timerfd_settime(int timer, int flags, const itimerspec* next,
                               itimerspec* last) noexcept {
  if (holdfast::test::virtual_times > 0) return 0;
  return static_cast<int>(syscall(SYS_timerfd_settime, timer, flags, next, last));
}
