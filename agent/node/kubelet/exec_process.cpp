#include "agent/node/kubelet/exec_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "platform/fs/errno.h"
#include "platform/fs/file.h"
#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"
#include "platform/proc/process.h"
#include "platform/text.h"

namespace holdfast::agent::node {
namespace {

constexpr std::size_t environment_bytes_max = 4UL << 20;
constexpr Duration end_poll = std::chrono::milliseconds(100);
constexpr std::string_view end_of_file = "\x04";

// Our end of a stream, and the one that the program gets.
struct StreamEnds {
  Descriptor ours;
  Descriptor theirs;
};

Result<StreamEnds> open_pipe(bool is_input) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("create a pipe");
  StreamEnds made{Descriptor(ends[0]), Descriptor(ends[1])};
  if (is_input) std::swap(made.ours, made.theirs);
  return made;
}

Result<StreamEnds> open_terminal() {
  StreamEnds made;
  made.ours = Descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.ours.is_open() || ::grantpt(made.ours.get()) != 0 || ::unlockpt(made.ours.get()) != 0) {
    return fail_errno("open a terminal");
  }
  std::array<char, 128> name{};
  if (::ptsname_r(made.ours.get(), name.data(), name.size()) != 0) return fail_errno("a terminal");
  made.theirs = Descriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.theirs.is_open()) return fail_errno("open a terminal");
  return made;
}

Result<Descriptor> open_nothing() {
  Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.is_open()) return fail_errno("open /dev/null");
  return nothing;
}

struct ExecStreams {
  Descriptor nothing;
  StreamEnds input;
  StreamEnds output;
  StreamEnds error;
  bool is_terminal = false;

  [[nodiscard]] int of(const StreamEnds& stream) const {
    return stream.theirs.is_open() ? stream.theirs.get() : nothing.get();
  }
  [[nodiscard]] proc::StandardStreams standard() const {
    if (is_terminal) return {of(input), of(input), of(input), true};
    return {of(input), of(output), of(error), false};
  }
};

Result<ExecStreams> open_streams(const ExecOptions& options) {
  ExecStreams made;
  made.is_terminal = options.terminal;
  TRY(made.nothing, open_nothing());
  if (options.terminal) {
    TRY(made.input, open_terminal());
    made.output.ours = Descriptor(::fcntl(made.input.ours.get(), F_DUPFD_CLOEXEC, 0));
    if (!made.output.ours.is_open()) return fail_errno("open a terminal");
    return made;
  }
  if (options.input) {
    TRY(made.input, open_pipe(true));
  }
  if (options.output) {
    TRY(made.output, open_pipe(false));
  }
  if (options.error) {
    TRY(made.error, open_pipe(false));
  }
  return made;
}

std::vector<std::string> environment_of(std::string_view text, bool terminal) {
  std::vector<std::string> variables;
  bool has_term = false;
  for (const std::string_view each : split(text, '\0')) {
    if (each.find('=') == each.npos) continue;
    has_term = has_term || each.starts_with("TERM=");
    variables.emplace_back(each);
  }
  if (terminal && !has_term) variables.emplace_back("TERM=xterm");
  return variables;
}

}  // namespace

Result<std::unique_ptr<ExecProcess>> ExecProcess::start(const asio::any_io_executor& executor,
                                                        const ExecOptions& options,
                                                        const proc::ProcessIdentity& container) {
  const fs::Path about = fs::Path("/proc") / std::to_string(container.pid);
  TRY(const std::string environment, fs::read_all(about / "environ", environment_bytes_max));
  std::error_code ec;
  fs::Path directory = std::filesystem::read_symlink(about / "cwd", ec);
  if (ec || !std::filesystem::is_directory(directory, ec)) directory = "/";
  // Only now is it certain that these were not of another process with the same id.
  if (!proc::is_alive(container)) return fail(Errc::not_found, "the container has ended");
  TRY(ExecStreams streams, open_streams(options));
  std::unique_ptr<ExecProcess> made(new ExecProcess());
  TRY(made->identity_, proc::spawn({.argv = options.command,
                                    .env = environment_of(environment, options.terminal),
                                    .working_directory = directory,
                                    .streams = streams.standard()}));
  made->is_terminal_ = options.terminal;
  const auto take = [&executor](StreamEnds& ends) -> Stream {
    if (!ends.ours.is_open()) return nullptr;
    return std::make_unique<asio::posix::stream_descriptor>(executor, ends.ours.release());
  };
  made->input_ = take(streams.input);
  made->output_ = take(streams.output);
  made->error_ = take(streams.error);
  return made;
}

ExecProcess::~ExecProcess() {
  kill();
  if (exit_ || identity_.pid <= 0) return;
  // It cannot ignore SIGKILL, so this takes some milliseconds at most.
  while (::waitpid(identity_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ExecProcess::kill() {
  if (identity_.pid > 0 && !exit_) (void)::kill(-identity_.pid, SIGKILL);
}

asio::awaitable<std::size_t> ExecProcess::read(Output which, std::span<char> into) {
  boost::system::error_code ec;
  const auto buffer = asio::buffer(into.data(), into.size());
  const std::size_t count = co_await stream(which)->async_read_some(buffer, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  // A terminal without a program on its other side fails with EIO: that is its end.
  co_return ec ? 0 : count;
}

asio::awaitable<bool> ExecProcess::write(std::string_view bytes) {
  if (!input_) co_return true;
  boost::system::error_code ec;
  co_await asio::async_write(*input_, asio::buffer(bytes.data(), bytes.size()), loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  co_return !ec;
}

asio::awaitable<void> ExecProcess::end_input() {
  if (is_terminal_) {
    (void)co_await write(end_of_file);
  } else {
    input_.reset();
  }
}

void ExecProcess::resize(TerminalSize size) {
  if (!is_terminal_ || !input_) return;
  const winsize wanted{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  (void)::ioctl(input_->native_handle(), TIOCSWINSZ, &wanted);
}

asio::awaitable<proc::ExitStatus> ExecProcess::wait() {
  while (!exit_) {
    co_await await_end(identity_);
    // What it has left in its group ends with it. The group's id is valid until it is reaped.
    (void)::kill(-identity_.pid, SIGKILL);
    if (const auto ended = proc::reap(identity_.pid)) exit_ = ended;
  }
  co_return *exit_;
}

asio::awaitable<void> await_end(proc::ProcessIdentity process) {
  auto pidfd = proc::open_pidfd(process);
  if (pidfd) {
    const auto executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor waiting(executor, pidfd->release());
    boost::system::error_code ec;
    co_await waiting.async_wait(asio::posix::stream_descriptor::wait_read, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    co_return;
  }
  while (proc::is_alive(process)) co_await loop::wait_for(end_poll);
}

}  // namespace holdfast::agent::node
