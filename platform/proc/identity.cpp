#include "platform/proc/identity.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "platform/fs/errno.h"
#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::proc {
namespace {

// Linux 6.9; the headers here are older.
constexpr unsigned pidfd_signal_process_group = 1U << 2;

// The beginning of an error's text: "signal process 12".
std::string named(const char* doing, pid_t pid) {
  return std::string(doing) + " process " + std::to_string(pid);
}

int pidfd_open(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

bool pidfd_signal(const Descriptor& pidfd, int number, unsigned flags) {
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, flags) == 0;
}

// Signals by pid, for kernels without pidfd calls. The small race (the pid is freed and reused
// between the check and the signal) is accepted.
Status signal_by_pid(const ProcessIdentity& identity, pid_t target, int number) {
  if (!is_alive(identity)) return fail_errno(named("signal", identity.pid), ESRCH);
  if (::kill(target, number) != 0) return fail_errno(named("signal", identity.pid));
  return {};
}

Status signal_with(const ProcessIdentity& identity, pid_t target, int number, unsigned flags) {
  const auto pidfd = open_pidfd(identity);
  if (!pidfd && pidfd.error().code != Errc::unavailable) return fail(pidfd.error());
  if (!pidfd) return signal_by_pid(identity, target, number);
  if (pidfd_signal(*pidfd, number, flags)) return {};
  if (errno == EINVAL || errno == ENOSYS) return signal_by_pid(identity, target, number);
  return fail_errno(named("signal", identity.pid));
}

}  // namespace

Result<ProcessStat> parse_stat(std::string_view line) {
  const auto bad = [line] {
    return fail(Errc::corrupt, "not a line of /proc/PID/stat: \"" + std::string(line) + "\"");
  };
  const std::size_t command_end = line.rfind(") ");
  if (command_end == line.npos) return bad();
  // The fields from the state on, which is field 3 in proc(5).
  const auto fields = split(trim(line.substr(command_end + 2)), ' ');
  if (fields.size() < 20 || fields[0].size() != 1) return bad();
  const auto parent = parse_int<pid_t>(fields[1]);
  const auto group = parse_int<pid_t>(fields[2]);
  const auto threads = parse_int<std::int64_t>(fields[17]);
  const auto start = parse_int<std::uint64_t>(fields[19]);
  if (!parent || !group || !threads || !start) return bad();
  return ProcessStat{fields[0][0], *parent, *group, *threads, *start};
}

Result<ProcessStat> read_stat(pid_t pid) {
  const auto line = fs::read_all("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!line) return fail(line.error());
  return parse_stat(*line);
}

Result<std::string> read_boot_id() {
  static const Result<std::string> read = [] {
    return fs::read_all("/proc/sys/kernel/random/boot_id", 128);
  }();
  if (!read) return fail(read.error());
  return std::string(trim(*read));
}

Result<ProcessIdentity> identify(pid_t pid) {
  if (pid <= 0) return fail_errno(named("identify", pid), ESRCH);
  TRY(const ProcessStat stat, read_stat(pid));
  TRY(std::string boot_id, read_boot_id());
  return ProcessIdentity{pid, stat.start_ticks, std::move(boot_id)};
}

bool is_alive(const ProcessIdentity& identity) {
  const auto now = identify(identity.pid);
  if (!now || *now != identity) return false;
  const auto stat = read_stat(identity.pid);
  return stat && stat->start_ticks == identity.start_ticks && !stat->is_dead();
}

Result<Descriptor> open_pidfd(const ProcessIdentity& identity) {
  if (identity.pid <= 0) return fail_errno(named("watch", identity.pid), ESRCH);
  Descriptor pidfd(pidfd_open(identity.pid));
  if (!pidfd.is_open()) return fail_errno(named("watch", identity.pid));
  // Check only now that the descriptor pins the pid: the process that has the pid is the one that
  // the descriptor refers to.
  if (!is_alive(identity)) return fail_errno(named("watch", identity.pid), ESRCH);
  return pidfd;
}

bool wait_for_end(const Descriptor& pidfd, Duration timeout) {
  using std::chrono::milliseconds;
  const auto most = milliseconds(std::numeric_limits<int>::max());
  const auto wait = std::min(std::chrono::ceil<milliseconds>(timeout), most);
  pollfd entry{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&entry, 1, static_cast<int>(std::max(wait, milliseconds(0)).count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

Status signal_group(const ProcessIdentity& leader, int number) {
  return signal_with(leader, -leader.pid, number, pidfd_signal_process_group);
}

Status signal_process(const ProcessIdentity& identity, int number) {
  return signal_with(identity, identity.pid, number, 0);
}

std::optional<ExitStatus> reap(pid_t child) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(child);
  if (child <= 0 || ::waitid(P_PID, id, &info, WEXITED | WNOHANG) != 0) return std::nullopt;
  if (info.si_pid == 0) return std::nullopt;
  return ExitStatus{info.si_code != CLD_EXITED, info.si_status};
}

}  // namespace holdfast::proc
