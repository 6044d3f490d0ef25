#include "agent/lab/cluster/children.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "platform/fs/file.h"
#include "platform/integers.h"
#include "platform/loop/timer.h"
#include "platform/proc/notify.h"
#include "platform/proc/process.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t log_bytes_max = 64UL << 20;
constexpr Duration output_poll = 20ms;
constexpr Duration last_wait = 3s;

std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code ec;
  const auto size = std::filesystem::file_size(file, ec);
  return ec ? 0 : size;
}

// The pids of all child processes.
std::vector<int> own_children() {
  const std::string self = std::to_string(getpid());
  const std::string text =
      fs::read_all("/proc/self/task/" + self + "/children", log_bytes_max).value_or("");
  std::vector<int> pids;
  for (const std::string_view word : split(text, ' ')) {
    if (const auto pid = parse_int<int>(word)) pids.push_back(*pid);
  }
  return pids;
}

}  // namespace

std::string find_logged(std::string_view log, std::string_view message, std::string_view field) {
  const std::string wanted = " " + std::string(field) + "=";
  std::string found;
  for (const std::string_view line : split(log, '\n')) {
    if (line.find(message) == line.npos) continue;
    const auto at = line.find(wanted);
    if (at == line.npos) continue;
    const std::string_view rest = line.substr(at + wanted.size());
    found = std::string(rest.substr(0, rest.find(' ')));
  }
  return found;
}

Children::Children(std::filesystem::path bin, std::filesystem::path logs, const Clock& clock)
    : bin_(std::move(bin)), logs_(std::move(logs)), clock_(clock) {
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

Result<proc::ProcessIdentity> Children::start(const std::string& name, const std::string& program,
                                              std::vector<std::string> arguments) {
  proc::SpawnPlan plan;
  plan.argv = std::move(arguments);
  plan.argv.insert(plan.argv.begin(), (bin_ / program).string());
  for (const char* variable : {"PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const auto value = proc::system_environment(variable);
    if (value) plan.env.push_back(std::string(variable) + "=" + *value);
  }
  plan.log = logs_ / (name + ".log");
  plan.ends_with_parent = true;
  Child child{.identity = {}, .log_begin = size_of(plan.log)};
  TRY(child.identity, proc::spawn(plan));
  children_[name] = child;
  return child.identity;
}

asio::awaitable<Result<std::string>> Children::logged(std::string name, std::string message,
                                                      std::string field, MonoTime deadline) {
  const Child child = children_.at(name);
  const std::filesystem::path file = logs_ / (name + ".log");
  for (;;) {
    const auto log = fs::read_all(file, log_bytes_max);
    const std::string_view text = log ? std::string_view(*log) : std::string_view();
    const auto begin = to_size(std::min<std::uintmax_t>(text.size(), child.log_begin));
    Result<std::string> found = find_logged(text.substr(begin), message, field);
    if (!found->empty()) co_return found;
    if (!proc::is_alive(child.identity)) {
      co_return fail(Errc::unavailable, name + " has ended; see " + file.string());
    }
    if (clock_.mono() >= deadline) co_return fail(Errc::timeout, name + " has not started in time");
    co_await loop::wait_for(output_poll);
  }
}

int Children::pid(const std::string& name) const {
  const auto child = children_.find(name);
  return child == children_.end() ? 0 : child->second.identity.pid;
}

void Children::kill(const std::string& name) {
  const auto child = children_.find(name);
  if (child == children_.end()) return;
  child->second.killed = true;
  (void)proc::signal_process(child->second.identity, SIGKILL);
}

void Children::signal(const std::string& name, int number) {
  const auto child = children_.find(name);
  if (child != children_.end()) (void)proc::signal_process(child->second.identity, number);
}

bool Children::is_alive(const std::string& name) const {
  const auto child = children_.find(name);
  return child != children_.end() && proc::is_alive(child->second.identity);
}

void Children::reap() {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    for (const auto& [name, child] : children_) {
      if (child.identity.pid != pid || child.killed || status == 0) continue;
      const std::string how = WIFSIGNALED(status) ? " by signal " + std::to_string(WTERMSIG(status))
                                                  : " with " + std::to_string(WEXITSTATUS(status));
      abnormal_exits_.push_back(name + " ended" + how);
    }
  }
}

asio::awaitable<Status> Children::end(std::string name, MonoTime deadline) {
  const proc::ProcessIdentity identity = children_.at(name).identity;
  (void)proc::signal_process(identity, SIGTERM);
  while (proc::is_alive(identity)) {
    if (clock_.mono() >= deadline) co_return fail(Errc::timeout, name + " has not ended in time");
    co_await loop::wait_for(output_poll);
    reap();
  }
  Status done;
  co_return done;
}

bool Children::any_alive() const {
  for (const auto& [name, child] : children_) {
    if (proc::is_alive(child.identity)) return true;
  }
  return false;
}

asio::awaitable<std::vector<int>> Children::end_all(MonoTime deadline) {
  for (const auto& [name, child] : children_) {
    (void)proc::signal_process(child.identity, SIGTERM);
    (void)proc::signal_process(child.identity, SIGCONT);  // it may have been stopped
  }
  while (any_alive() && clock_.mono() < deadline) {
    reap();
    co_await loop::wait_for(output_poll);
  }
  // All remaining children were started by the lab or by its programs. When one ends, its own
  // children become children of the lab.
  const MonoTime last = clock_.mono() + last_wait;
  std::vector<int> left = own_children();
  while (!left.empty() && clock_.mono() < last) {
    for (const int pid : left) {
      const auto identity = proc::identify(pid);
      if (identity) (void)proc::signal_process(*identity, SIGKILL);
    }
    reap();
    co_await loop::wait_for(output_poll);
    left = own_children();
  }
  co_return left;
}

}  // namespace holdfast::agent::lab::cluster
