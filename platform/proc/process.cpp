#include "platform/proc/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "platform/check.h"
#include "platform/fs/errno.h"
#include "platform/text.h"

namespace holdfast::proc {
namespace {

constexpr std::string_view default_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

enum class Step : int { working_directory, log, program };

// What the child reports through the pipe if it fails before the program runs.
struct Failure {
  Step step;
  int error;
};

// Everything that the child needs, prepared before fork(): after it only async-signal-safe calls
// are allowed.
struct Prepared {
  std::vector<std::string> candidates;  // paths to try as the program, in order
  std::vector<char*> argv;
  std::vector<char*> env;
  const char* working_directory;
  const char* log;
  Descriptor input;  // if it is not open, /dev/null is used
  std::optional<StandardStreams> streams;
  bool ends_with_parent;
};

bool has_nul(const std::string& text) { return text.find('\0') != text.npos; }

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  // execve() takes char* for historical reasons but does not write to the strings.
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> candidates_for(const SpawnPlan& plan) {
  const std::string& program = plan.argv.front();
  if (program.find('/') != program.npos) return {program};
  std::string_view path = default_path;
  constexpr std::string_view name = "PATH=";
  for (const std::string& entry : plan.env) {
    if (entry.starts_with(name)) path = std::string_view(entry).substr(name.size());
  }
  std::vector<std::string> candidates;
  for (const std::string_view dir : split(path, ':')) {
    candidates.push_back((dir.empty() ? "." : std::string(dir)) + "/" + program);
  }
  return candidates;
}

[[noreturn]] void give_up(int report, Step step) {
  const Failure failure{step, errno};
  const ssize_t ignored = ::write(report, &failure, sizeof failure);
  (void)ignored;
  ::_exit(127);
}

// Closes all descriptors but `kept`, which is sorted, and does so before waiting: an inherited
// descriptor of a locked file would keep the lock if the parent dies while the child waits.
void close_all_but(const std::array<int, 6>& kept) {
  unsigned from = 3;
  bool done = true;
  for (const int number : kept) {
    const auto keep = static_cast<unsigned>(number);
    if (number < 3 || keep < from) continue;  // not open, or named before
    if (keep > from) done = ::syscall(SYS_close_range, from, keep - 1, 0U) == 0 && done;
    from = keep + 1;
  }
  done = ::syscall(SYS_close_range, from, ~0U, 0U) == 0 && done;
  if (done) return;
  // Before Linux 5.9 there is no close_range(). Descriptors that we opened close on exec anyway.
  constexpr int likely_most = 4096;
  for (int number = 3; number < likely_most; ++number) (void)::fcntl(number, F_SETFD, FD_CLOEXEC);
}

void reset_signals() {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) (void)::sigaction(number, &usual, nullptr);
  sigset_t none;
  (void)sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool use_streams(const StandardStreams& streams) {
  if (streams.is_terminal && ::ioctl(streams.input, TIOCSCTTY, 0) != 0) return false;
  return ::dup2(streams.input, STDIN_FILENO) >= 0 && ::dup2(streams.output, STDOUT_FILENO) >= 0 &&
         ::dup2(streams.error, STDERR_FILENO) >= 0;
}

bool redirect(const Prepared& prepared) {
  if (prepared.streams) return use_streams(*prepared.streams);
  const int input =
      prepared.input.is_open() ? prepared.input.get() : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = ::open(prepared.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return input >= 0 && output >= 0 && ::dup2(input, STDIN_FILENO) >= 0 &&
         ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0;
}

// Like execvp(3): if a candidate may not be executed, the others are tried, and that error is
// reported only if none can be run.
void run_program(const Prepared& prepared) {
  bool denied = false;
  for (const std::string& candidate : prepared.candidates) {
    (void)::execve(candidate.c_str(), prepared.argv.data(), prepared.env.data());
    if (errno == EACCES) denied = true;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return;
  }
  errno = denied ? EACCES : ENOENT;
}

[[noreturn]] void become(const Prepared& prepared, int gate, int report) {
  const StandardStreams streams = prepared.streams.value_or(StandardStreams());
  std::array<int, 6> kept{gate,          report,         prepared.input.get(),
                          streams.input, streams.output, streams.error};
  std::sort(kept.begin(), kept.end());
  close_all_but(kept);
  (void)::setsid();
  if (prepared.ends_with_parent) (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char opened = 0;
  ssize_t count = 0;
  do {
    count = ::read(gate, &opened, 1);
  } while (count < 0 && errno == EINTR);
  if (count != 1) ::_exit(127);  // The parent has ended or dropped the Launch.
  reset_signals();
  (void)::umask(022);
  if (!redirect(prepared)) give_up(report, Step::log);
  if (::chdir(prepared.working_directory) != 0) give_up(report, Step::working_directory);
  run_program(prepared);
  give_up(report, Step::program);
}

using Ends = std::array<Descriptor, 2>;

Result<Ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("create a pipe");
  return Ends{Descriptor(ends[0]), Descriptor(ends[1])};
}

// A pair of sockets, because writing to it cannot raise SIGPIPE when the child has ended.
Result<Ends> make_gate() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno("create a pair of sockets");
  }
  return Ends{Descriptor(ends[0]), Descriptor(ends[1])};
}

// An anonymous file that holds `text`, positioned at its start.
Result<Descriptor> anonymous_file(std::string_view text) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file.is_open()) return fail_errno("create an input");
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("write an input");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail_errno("rewind an input");
  return file;
}

Status check_plan(const SpawnPlan& plan) {
  if (plan.argv.empty() || plan.argv.front().empty()) {
    return fail(Errc::invalid, "start a program: its argv is empty");
  }
  for (const auto* strings : {&plan.argv, &plan.env}) {
    for (const std::string& text : *strings) {
      if (!has_nul(text)) continue;
      return fail(Errc::invalid, "start " + plan.argv.front() + ": NUL in an argument or variable");
    }
  }
  return {};
}

void reap_blocking(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Launch> Launch::prepare(const SpawnPlan& plan) {
  if (auto sound = check_plan(plan); !sound) return fail(sound.error());
  Descriptor input;
  if (!plan.input.empty()) {
    TRY(input, anonymous_file(plan.input));
  }
  const Prepared prepared{
      candidates_for(plan), pointers(plan.argv), pointers(plan.env), plan.working_directory.c_str(),
      plan.log.c_str(),     std::move(input),    plan.streams,       plan.ends_with_parent};
  TRY(Ends gate, make_gate());
  TRY(Ends report, make_pipe());
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("start " + plan.argv.front());
  if (child == 0) {
    // Otherwise the child would hold the other end of its own gate open and wait for ever.
    (void)::close(gate[1].get());
    become(prepared, gate[0].get(), report[1].get());
  }
  Launch launch(std::move(gate[1]), std::move(report[0]), plan.argv.front());
  launch.identity_.pid = child;
  TRY(launch.identity_, identify(child));
  return launch;
}

Launch::~Launch() {
  if (!gate_.is_open()) return;
  gate_.close();
  if (identity_.pid > 0) reap_blocking(identity_.pid);
}

Status Launch::release() {
  CHECK(gate_.is_open());
  const bool opened = ::send(gate_.get(), "g", 1, MSG_NOSIGNAL) == 1;
  const int gate_error = errno;
  gate_.close();
  Failure failure{};
  ssize_t count = 0;
  do {
    count = ::read(report_.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  report_.close();
  if (opened && count == 0) return {};
  reap_blocking(identity_.pid);
  if (count != static_cast<ssize_t>(sizeof failure)) {
    return fail_errno("start " + program_, opened ? EIO : gate_error);
  }
  switch (failure.step) {
    case Step::working_directory:
      return fail_errno("start " + program_ + ": enter its working directory", failure.error);
    case Step::log:
      return fail_errno("start " + program_ + ": open its log", failure.error);
    case Step::program:
      return fail_errno("start " + program_, failure.error);
  }
  UNREACHABLE();
}

Result<ProcessIdentity> spawn(const SpawnPlan& plan) {
  TRY(Launch launch, Launch::prepare(plan));
  const ProcessIdentity identity = launch.identity();
  if (auto released = launch.release(); !released) return fail(released.error());
  return identity;
}

}  // namespace holdfast::proc
