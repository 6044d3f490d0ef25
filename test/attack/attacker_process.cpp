#include "test/attack/attacker_process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "test/attack/cgroup.h"

namespace holdfast::attack {
namespace {

bool drop_capabilities() {
  for (unsigned long one = 0; one <= CAP_LAST_CAP; ++one)
    (void)prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  return syscall(SYS_capset, &header, none.data()) == 0;
}

// Raises the limit of open files to root's maximum: the attacks hold thousands of connections.
void allow_files() {
  rlimit limit{};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, 12000);
  limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

bool become(const RunAs& who) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)std::signal(SIGPIPE, SIG_IGN);
  allow_files();
  if (!who.cgroup.empty() && !join_cgroups(who.cgroup)) return false;
  if (who.no_capabilities && !drop_capabilities()) return false;
  if (who.uid == 0) return true;
  return setgroups(0, nullptr) == 0 && setresgid(who.uid, who.uid, who.uid) == 0 &&
         setresuid(who.uid, who.uid, who.uid) == 0;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

struct Child {
  pid_t pid = -1;
  Socket pipe;
};

Child fork_as(const RunAs& who, const std::function<void(int)>& act) {
  std::array<int, 2> ends{-1, -1};
  (void)pipe2(ends.data(), O_CLOEXEC);
  const pid_t pid = fork();
  if (pid != 0) {
    (void)::close(ends[1]);
    return {pid, Socket(ends[0])};
  }
  (void)::close(ends[0]);
  if (become(who)) {
    act(ends[1]);
  } else {
    write_all(ends[1], "failed: cannot become what attacks\n");
  }
  _exit(0);
}

// Appends the next bytes from the child. Returns whether any came before `until`.
bool hear(const Socket& pipe, Clock::time_point until, std::string& into) {
  const auto rest = std::chrono::duration_cast<Duration>(until - Clock::now()).count();
  pollfd one{pipe.fd(), POLLIN, 0};
  if (rest <= 0 || poll(&one, 1, static_cast<int>(rest)) <= 0) return false;
  std::array<char, 65536> bytes{};
  const auto count = ::read(pipe.fd(), bytes.data(), bytes.size());
  if (count <= 0) return false;
  into.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

void end(pid_t pid) {
  if (pid <= 0) return;
  (void)::kill(pid, SIGKILL);
  (void)waitpid(pid, nullptr, 0);
}

}  // namespace

std::string run_as(const RunAs& who, const Act& act) {
  const Child child = fork_as(who, [&act](int fd) { write_all(fd, act()); });
  const auto until = Clock::now() + who.limit;
  std::string heard;
  while (hear(child.pipe, until, heard)) {
  }
  end(child.pid);
  return heard;
}

std::string run_as_nobody(const Act& act, Duration limit) {
  return run_as({.uid = nobody, .limit = limit}, act);
}

Answer ask_as_nobody(std::uint16_t port, const Ask& question) {
  return parse_answer(run_as_nobody([&question, port] { return ask_raw(port, question); }));
}

AttackerProcess::AttackerProcess(const RunAs& who, const std::function<void(const Say&)>& act) {
  Child child = fork_as(who, [&act](int fd) {
    act([fd](const std::string& line) { write_all(fd, line + "\n"); });
    (void)::close(fd);
    for (;;) (void)pause();
  });
  pid_ = child.pid;
  pipe_ = std::move(child.pipe);
}

AttackerProcess::~AttackerProcess() { end(pid_); }

std::string AttackerProcess::line(Duration limit) {
  const auto until = Clock::now() + limit;
  for (;;) {
    const std::size_t end = heard_.find('\n');
    if (end != std::string::npos) {
      std::string first = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return first;
    }
    if (!hear(pipe_, until, heard_)) return {};
  }
}

}  // namespace holdfast::attack
