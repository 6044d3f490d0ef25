#include "agent/client/plugin_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <cerrno>
#include <string_view>
#include <utility>

#include "platform/fs/descriptor.h"
#include "platform/fs/errno.h"
#include "platform/log.h"
#include "platform/loop/cancellation.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/proc/identity.h"
#include "platform/proc/process.h"
#include "platform/terminal.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

using Pipe = asio::posix::stream_descriptor;

struct PipeEnds {
  Descriptor ours;
  Descriptor theirs;
};

Result<PipeEnds> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("create a pipe");
  return PipeEnds{Descriptor(ends[0]), Descriptor(ends[1])};
}

// Ours, with the variables of the plug-in, of which the last one of a name counts.
std::vector<std::string> environment_of(const ExecConfig& config) {
  std::vector<std::string> all;
  const auto set = [&all](std::string entry) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(all, [&name](const std::string& each) { return each.starts_with(name); });
    all.push_back(std::move(entry));
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // The service manager's socket is not for other programs.
    if (!std::string_view(*entry).starts_with("NOTIFY_SOCKET=")) all.emplace_back(*entry);
  }
  for (const std::string& entry : config.env) set(entry);
  set("KUBERNETES_EXEC_INFO=" + config.info);
  return all;
}

// The child process. Its whole group is killed at the latest when this is destroyed.
class PluginProcess {
 public:
  static Result<std::unique_ptr<PluginProcess>> start(const asio::any_io_executor& executor,
                                                      const ExecConfig& config) {
    Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!input.is_open()) return fail_errno("open /dev/null");
    TRY(PipeEnds output, open_pipe());
    TRY(PipeEnds error, open_pipe());
    proc::SpawnPlan plan{.argv = {config.command}, .env = environment_of(config)};
    plan.argv.insert(plan.argv.end(), config.args.begin(), config.args.end());
    plan.streams = proc::StandardStreams{input.get(), output.theirs.get(), error.theirs.get()};
    plan.ends_with_parent = true;
    std::unique_ptr<PluginProcess> made(new PluginProcess(executor));
    TRY(made->identity_, proc::spawn(plan));
    made->output.assign(output.ours.release());
    made->error.assign(error.ours.release());
    return made;
  }

  ~PluginProcess() { (void)end(); }
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;

  // Kills what is left of its group and reaps it. The group's id is valid until then.
  proc::ExitStatus end() {
    if (identity_.pid <= 0) return exit_;
    (void)::kill(-identity_.pid, SIGKILL);
    // It cannot ignore SIGKILL, so this takes some milliseconds at most.
    int status = 0;
    while (::waitpid(identity_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    exit_ = WIFSIGNALED(status) ? proc::ExitStatus{true, WTERMSIG(status)}
                                : proc::ExitStatus{false, WEXITSTATUS(status)};
    identity_.pid = 0;
    return exit_;
  }

  [[nodiscard]] const proc::ProcessIdentity& identity() const { return identity_; }

  Pipe output;
  Pipe error;

 private:
  explicit PluginProcess(const asio::any_io_executor& executor)
      : output(executor), error(executor) {}

  proc::ProcessIdentity identity_;
  proc::ExitStatus exit_;
};

// What the reads of both pipes and the wait for the end share.
struct PluginRun {
  std::unique_ptr<PluginProcess> process;
  std::string output;
  std::string error;
  bool too_much = false;
  bool late = false;
};

asio::awaitable<void> collect(std::shared_ptr<PluginRun> run, std::size_t output_max) {
  std::array<char, 4096> buffer{};
  for (;;) {
    boost::system::error_code ec;
    const auto into = asio::buffer(buffer);
    const std::size_t count = co_await run->process->output.async_read_some(into, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    if (ec) co_return;
    run->output.append(buffer.data(), count);
    if (run->output.size() <= output_max) continue;
    run->too_much = true;
    co_return;
  }
}

asio::awaitable<void> collect_errors(std::shared_ptr<PluginRun> run, std::size_t error_max) {
  std::array<char, 1024> buffer{};
  for (;;) {
    boost::system::error_code ec;
    const auto into = asio::buffer(buffer);
    const std::size_t count = co_await run->process->error.async_read_some(into, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    if (ec) co_return;
    const std::size_t room = error_max - std::min(error_max, run->error.size());
    run->error.append(buffer.data(), std::min(count, room));
  }
}

std::string describe_exit(const proc::ExitStatus& exit) {
  return (exit.signalled ? "ended by signal " : "exit code ") + std::to_string(exit.number);
}

void log_errors(const std::string& command, std::string_view text) {
  constexpr std::size_t lines_max = 20;
  std::size_t lines = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    if (++lines > lines_max) return;
    log_warn("credential plug-in says",
             {{"command", command}, {"text", escape_for_terminal(trim(line))}});
  }
}

}  // namespace

asio::awaitable<Result<std::string>> run_plugin(const ExecConfig& config,
                                                const PluginLimits& limits, MonoTime deadline) {
  const auto executor = co_await asio::this_coro::executor;
  const auto run = std::make_shared<PluginRun>();
  auto started = PluginProcess::start(executor, config);
  if (!started) {
    const bool hint = started.error().code == Errc::not_found && !config.install_hint.empty();
    if (!hint) co_return fail(started.error());
    co_return fail(Errc::not_found, started.error().what + "; " +
                                        escape_for_terminal(config.install_hint.substr(0, 1000)));
  }
  run->process = *std::move(started);
  const std::string command = config.command;
  loop::Tasks errors(executor);
  errors.spawn("credential plug-in errors", collect_errors(run, limits.error_bytes));
  loop::Tasks reading(executor);
  reading.spawn("credential plug-in output", collect(run, limits.output_bytes));
  constexpr Duration poll = std::chrono::milliseconds(10);
  const Clock& clock = loop::clock_of(executor);
  while (!run->too_much && !run->late && proc::is_alive(run->process->identity())) {
    run->late = clock.mono() >= deadline;
    if (!run->late) co_await loop::wait_for(poll);
  }
  const proc::ExitStatus exit = run->process->end();
  // The pipes end with the group, unless a process has left it.
  constexpr Duration rest = std::chrono::seconds(1);
  const bool whole = co_await reading.join_until(clock.mono() + rest);
  (void)co_await errors.join_until(clock.mono() + poll);
  reading.cancel();
  errors.cancel();
  const bool failed = exit.signalled || exit.number != 0;
  if (failed || run->late || run->too_much) log_errors(command, run->error);
  if (run->late) co_return fail(Errc::timeout, "killed at its time limit");
  if (run->too_much) co_return fail(Errc::exhausted, "killed: it printed too much");
  if (failed) co_return fail(Errc::unavailable, describe_exit(exit));
  if (!whole) co_return fail(Errc::unavailable, "a process that it started keeps its output open");
  co_return std::move(run->output);
}

}  // namespace holdfast::agent
