#include "agent/node/kubelet/exec_session.h"

#include <boost/asio/this_coro.hpp>
#include <utility>

#include "platform/log.h"
#include "platform/loop/clock.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::node {
namespace {

using http::websocket::Message;
using http::websocket::Opcode;
using Output = ExecProcess::Output;

constexpr std::size_t output_bytes = 16UL * 1024;
// A program may leave behind others that hold its output open.
constexpr Duration drain_limit_of_exec = std::chrono::seconds(2);
constexpr std::uint16_t code_normal = 1000;

class WebSocketCaller final : public ExecCaller {
 public:
  explicit WebSocketCaller(std::shared_ptr<WebSocket> socket) : socket_(std::move(socket)) {}

  asio::awaitable<Result<ExecInput>> read() override {
    CO_TRY(const Message message, co_await socket_->read());
    co_return parse_exec_message(message.payload);
  }
  asio::awaitable<Status> write(Channel channel, std::string bytes) override {
    return socket_->write(Opcode::binary, exec_message(channel, bytes));
  }
  asio::awaitable<void> finish(std::string status_json) override {
    const auto socket = socket_;
    std::string message = exec_message(Channel::status, status_json);
    const Status sent = co_await socket->write(Opcode::binary, std::move(message));
    if (sent) co_await socket->end(code_normal, {});
  }
  asio::awaitable<void> keep_alive() override { return socket_->keep_alive(); }
  void close() override { socket_->close(); }

 private:
  std::shared_ptr<WebSocket> socket_;
};

struct ExecState {
  ExecState(const asio::any_io_executor& executor, std::shared_ptr<ExecCaller> its_caller,
            std::unique_ptr<ExecProcess> its_process)
      : caller(std::move(its_caller)), process(std::move(its_process)), changed(executor) {}

  std::shared_ptr<ExecCaller> caller;
  std::unique_ptr<ExecProcess> process;
  loop::Event changed;
  int outputs = 0;       // that have not ended
  bool is_gone = false;  // the caller
  std::optional<proc::ExitStatus> exit = {};

  void note() { changed.notify_all(); }
};

using ExecStatePtr = std::shared_ptr<ExecState>;

asio::awaitable<void> pump_output(ExecStatePtr state, Output which, Channel channel) {
  std::string block;
  for (;;) {
    block.resize(output_bytes);
    const std::size_t count = co_await state->process->read(which, block);
    if (count == 0) break;
    block.resize(count);
    std::string piece = block;
    const Status sent = co_await state->caller->write(channel, std::move(piece));
    if (sent) continue;
    state->is_gone = true;
    break;
  }
  --state->outputs;
  state->note();
}

asio::awaitable<void> pump_input(ExecStatePtr state) {
  for (;;) {
    const auto input = co_await state->caller->read();
    if (!input) {
      log_debug("exec: the caller is gone", {{"error", input.error()}});
      break;
    }
    if (input->kind == ExecInput::Kind::resize) state->process->resize(input->size);
    if (input->kind == ExecInput::Kind::end) co_await state->process->end_input();
    // What a program does not read any more is dropped, as by a shell's pipe.
    if (input->kind == ExecInput::Kind::bytes) (void)co_await state->process->write(input->bytes);
  }
  state->is_gone = true;
  state->note();
}

asio::awaitable<void> await_exit(ExecStatePtr state) {
  state->exit = co_await state->process->wait();
  state->note();
}

asio::awaitable<void> kill_with(ExecStatePtr state, proc::ProcessIdentity container) {
  co_await await_end(std::move(container));
  state->process->kill();
}

// Starts the tasks that move bytes, and waits until the program has ended or the caller is gone.
asio::awaitable<void> join_both(ExecStatePtr state, proc::ProcessIdentity container) {
  const auto executor = co_await asio::this_coro::executor;
  const Clock& clock = loop::clock_of(executor);
  loop::Tasks tasks(executor);
  for (const auto& [which, channel] :
       {std::pair{Output::output, Channel::output}, std::pair{Output::error, Channel::error}}) {
    if (!state->process->has(which)) continue;
    ++state->outputs;
    tasks.spawn("exec output", pump_output(state, which, channel));
  }
  tasks.spawn("exec input", pump_input(state));
  tasks.spawn("exec exit", await_exit(state));
  tasks.spawn("exec container", kill_with(state, std::move(container)));
  tasks.spawn("exec pings", state->caller->keep_alive());
  while (!state->is_gone && !state->exit) co_await state->changed.wait();
  const MonoTime limit = clock.mono() + drain_limit_of_exec;
  while (!state->is_gone && state->outputs > 0) {
    const bool more = co_await state->changed.wait_until(limit);
    if (!more) break;
  }
  tasks.cancel();
  co_await tasks.join();
}

}  // namespace

std::shared_ptr<ExecCaller> web_socket_caller(std::shared_ptr<WebSocket> socket) {
  return std::make_shared<WebSocketCaller>(std::move(socket));
}

asio::awaitable<void> run_exec(std::shared_ptr<ExecCaller> caller, ExecOptions options,
                               proc::ProcessIdentity container) {
  const auto executor = co_await asio::this_coro::executor;
  auto process = ExecProcess::start(executor, options, container);
  if (!process) {
    std::string failed = exec_failure_json(process.error().what);
    co_await caller->finish(std::move(failed));
    caller->close();
    co_return;
  }
  auto state = std::make_shared<ExecState>(executor, caller, *std::move(process));
  co_await join_both(state, std::move(container));
  state->process->kill();
  if (!state->is_gone && state->exit) {
    std::string ended = exit_status_json(options, *state->exit);
    co_await caller->finish(std::move(ended));
  }
  caller->close();
}

}  // namespace holdfast::agent::node
