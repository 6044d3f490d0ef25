#include "agent/node/process/shim.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "agent/node/process/attempt_files.h"
#include "agent/node/process/launch_wire.h"
#include "agent/node/process/log_times.h"
#include "platform/fs/errno.h"
#include "platform/proc/process.h"
#include "platform/text.h"

namespace holdfast::agent::node {
namespace {

using sync::runtime::ContainerExit;

constexpr std::size_t launch_limit = 8U << 20;  // above the kernel's limit for arguments
constexpr int write_tries = 60;                 // one per second: a full disk may be cleaned up
constexpr int sweep_tries = 10;                 // one per second, for processes that do not die

sigset_t handled_signals() {
  sigset_t set;
  (void)sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGHUP, SIGINT}) (void)sigaddset(&set, number);
  return set;
}

// Waits for one of the handled signals; returns 0 after a second.
int next_signal(const sigset_t& set) {
  const timespec second{.tv_sec = 1, .tv_nsec = 0};
  const int number = ::sigtimedwait(&set, nullptr, &second);
  return number > 0 ? number : 0;
}

bool is_there(const fs::Path& path) { return ::access(path.c_str(), F_OK) == 0; }

Status write_exit(const Clock& clock, const fs::Path& dir, ContainerExit exit) {
  const ExitRecord record{std::move(exit), BootTime::now(clock)};
  return fs::atomic_write(dir / exit_file, to_json(record));
}

// Retries for a minute, because an exit status that is not written is lost.
bool write_exit_stubbornly(const Clock& clock, const fs::Path& dir, const ContainerExit& exit) {
  const sigset_t set = handled_signals();
  for (int left = write_tries; left > 0; --left) {
    const Status written = write_exit(clock, dir, exit);
    if (written) return true;
    if (written.error().code == Errc::not_found) return false;  // The pod was removed.
    (void)next_signal(set);
  }
  return false;
}

// Reaps all children that have ended, also adopted orphans, but not the leader: its pid and process
// group must stay valid until finish(). Returns whether the leader has ended.
bool reap_all_but(pid_t leader) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    if (info.si_pid == leader) return true;
    (void)proc::reap(info.si_pid);
  }
  return false;
}

// Waits for a signal or, with `pause` zero, for growth of the log; with a pause for a signal or its
// end. Returns the signal, or 0.
int await_event(const Descriptor& signals, const LogTimesWriter& times, Duration pause) {
  // poll(2) ignores negative descriptors.
  std::array<pollfd, 2> both{{{signals.get(), POLLIN, 0}, {times.descriptor(), POLLIN, 0}}};
  const bool pausing = pause > Duration::zero();
  const auto wait =
      pausing ? static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count()) : -1;
  if (::poll(both.data(), pausing ? 1 : 2, wait) <= 0) return 0;
  if ((both[0].revents & POLLIN) == 0) return 0;
  signalfd_siginfo info{};
  const bool read = ::read(signals.get(), &info, sizeof info) == ssize_t{sizeof info};
  return read ? static_cast<int>(info.ssi_signo) : 0;
}

// Waits until the program ends; forwards SIGTERM, and records when the log grows.
void accompany(const Clock& clock, const fs::Path& dir, pid_t leader) {
  const sigset_t set = handled_signals();
  const Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  LogTimesWriter times(clock, dir);
  times.note();
  MonoTime noted = clock.mono();
  while (!reap_all_but(leader)) {
    const Duration pause = noted + times.pause() - clock.mono();
    const int number = signals.is_open() ? await_event(signals, times, pause) : next_signal(set);
    if (number == SIGTERM) (void)::kill(-leader, SIGTERM);
    if (pause > Duration::zero()) continue;
    times.note();
    noted = clock.mono();
  }
  times.note();
}

// Kills the shim's children. The shim is a subreaper, so their children become its own and are
// killed by the next call.
void kill_children() {
  const std::string self = std::to_string(::getpid());
  const auto children = fs::read_all("/proc/self/task/" + self + "/children", 1U << 20);
  if (!children) return;
  for (const std::string_view word : split(trim(*children), ' ')) {
    if (const auto pid = parse_int<pid_t>(word); pid && *pid > 1) (void)::kill(*pid, SIGKILL);
  }
}

// Kills and reaps all descendants that are left.
void sweep() {
  const sigset_t set = handled_signals();
  for (int left = sweep_tries; left > 0;) {
    kill_children();
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0) return;  // No children are left.
    if (reaped == 0 && next_signal(set) == 0) --left;
  }
}

// Ends the container and returns how its leader ended. The leader is not reaped yet, so its group
// id is still valid.
ContainerExit finish(pid_t leader) {
  (void)::kill(-leader, SIGKILL);
  const auto status = proc::reap(leader);
  sweep();
  if (!status) return {ContainerExit::Kind::unknown, 0, "its status could not be collected"};
  const auto kind = status->signalled ? ContainerExit::Kind::signal : ContainerExit::Kind::code;
  return {kind, status->number, ""};
}

// Prepares the program's process, which waits before its first instruction, writes launch.json and
// releases it. The rename to run.json succeeds even on a full disk.
Result<pid_t> start(const Clock& clock, const fs::Path& dir, const fs::Path& working_dir) {
  TRY(const std::string input, fs::read_all("/dev/stdin", launch_limit));
  TRY(sync::runtime::LaunchPlan plan, decode_launch(input));
  TRY(proc::Launch launch, proc::Launch::prepare({.argv = std::move(plan.argv),
                                                  .env = std::move(plan.env),
                                                  .working_directory = working_dir,
                                                  .log = dir / log_file}));
  TRY(proc::ProcessIdentity self, proc::identify(::getpid()));
  const RunRecord record{std::move(self), launch.identity(), BootTime::now(clock)};
  if (auto written = fs::atomic_write(dir / launch_file, to_json(record)); !written) {
    return fail(written.error());
  }
  if (auto released = launch.release(); !released) return fail(released.error());
  if (::rename((dir / launch_file).c_str(), (dir / run_file).c_str()) != 0) {
    const auto failed = fail_errno("rename to " + (dir / run_file).string());
    (void)finish(launch.identity().pid);
    return failed;
  }
  return launch.identity().pid;
}

// Runs one attempt; returns the exit code of the shim.
int live(const Clock& clock, const fs::Path& dir, const fs::Path& working_dir) {
  const auto lock = fs::FileLock::take(dir / lock_file);
  if (!lock) return lock.error().code == Errc::conflict ? 0 : 1;
  for (const char* file : {launch_file, run_file, exit_file}) {
    if (is_there(dir / file)) return 0;
  }
  // Adopt daemonized descendants of the program, so that finish() can end them.
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const auto leader = start(clock, dir, working_dir);
  if (!leader) {
    const ContainerExit failed{ContainerExit::Kind::failed, 0, leader.error().what};
    return write_exit_stubbornly(clock, dir, failed) ? 0 : 1;
  }
  (void)::malloc_trim(0);
  accompany(clock, dir, *leader);
  return write_exit_stubbornly(clock, dir, finish(*leader)) ? 0 : 1;
}

}  // namespace

int shim_main(const Clock& clock, int count, const char* const* arguments) {
  if (count != 2) {
    (void)std::fputs("usage: holdfast-node shim DIR WORKDIR < LAUNCH\n", stderr);
    return 2;
  }
  const sigset_t set = handled_signals();
  (void)::sigprocmask(SIG_BLOCK, &set, nullptr);
  (void)::signal(SIGPIPE, SIG_IGN);
  (void)::prctl(PR_SET_NAME, "holdfast-shim", 0, 0, 0);
  return live(clock, arguments[0], arguments[1]);
}

}  // namespace holdfast::agent::node
