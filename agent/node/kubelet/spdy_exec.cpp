#include "agent/node/kubelet/spdy_exec.h"

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <map>
#include <utility>

#include "platform/http/spdy/session.h"
#include "platform/log.h"
#include "platform/loop/clock.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::node {
namespace {

using BytesPtr = std::shared_ptr<net::Connection>;

constexpr Duration streams_limit = std::chrono::seconds(30);
constexpr Duration farewell_limit = std::chrono::seconds(5);
constexpr std::size_t input_block = 8192;
constexpr std::size_t size_bytes_max = 1024;

// The streams of a session, by their type.
struct ExecStreamTable {
  explicit ExecStreamTable(const asio::any_io_executor& executor) : changed(executor) {}

  std::map<std::string, BytesPtr> by_type;
  bool is_over = false;  // the caller is gone
  loop::Event changed;

  [[nodiscard]] BytesPtr find(const std::string& type) const {
    const auto found = by_type.find(type);
    return found == by_type.end() ? nullptr : found->second;
  }
};

using ExecStreamTablePtr = std::shared_ptr<ExecStreamTable>;

std::vector<std::string> wanted_types(const ExecOptions& options) {
  std::vector<std::string> types = {"error"};
  if (options.input) types.emplace_back("stdin");
  if (options.output) types.emplace_back("stdout");
  if (options.error) types.emplace_back("stderr");
  if (options.terminal) types.emplace_back("resize");
  return types;
}

class SpdyCaller final : public ExecCaller {
 public:
  SpdyCaller(const asio::any_io_executor& executor, ExecStreamTablePtr table)
      : executor_(executor), table_(std::move(table)) {}

  asio::awaitable<Result<ExecInput>> read() override {
    const ExecStreamTablePtr table = table_;
    while (inputs_.empty()) {
      if (table->is_over) co_return fail(Errc::unavailable, "exec: the caller is gone");
      co_await table->changed.wait();
    }
    ExecInput input = std::move(inputs_.front());
    inputs_.pop_front();
    table->changed.notify_all();
    co_return input;
  }

  asio::awaitable<Status> write(Channel channel, std::string bytes) override {
    const BytesPtr stream = table_->find(channel == Channel::output ? "stdout" : "stderr");
    const std::string kept = std::move(bytes);
    Status done;
    if (stream) done = co_await stream->write(kept);
    co_return done;
  }

  asio::awaitable<void> finish(std::string status_json) override {
    const ExecStreamTablePtr table = table_;
    const Clock& clock = loop::clock_of(executor_);
    (void)co_await table->find("error")->write(status_json);
    for (const auto& [type, stream] : table->by_type) stream->shutdown_write();
    // The caller has read everything when it closes the connection.
    const MonoTime limit = clock.mono() + farewell_limit;
    while (!table->is_over) {
      const bool more = co_await table->changed.wait_until(limit);
      if (!more) break;
    }
  }

  // Passes on what arrives on the streams of the input.
  asio::awaitable<void> keep_alive() override {
    const auto stdin_stream = table_->find("stdin");
    const auto resize_stream = table_->find("resize");
    loop::Tasks tasks(executor_);
    if (stdin_stream) tasks.spawn("exec stdin", pump_stdin(stdin_stream));
    if (resize_stream) tasks.spawn("exec sizes", pump_sizes(resize_stream));
    co_await tasks.join();
  }

  void close() override {}

 private:
  asio::awaitable<void> push(ExecInput input) {
    while (!inputs_.empty() && !table_->is_over) co_await table_->changed.wait();
    inputs_.push_back(std::move(input));
    table_->changed.notify_all();
  }

  asio::awaitable<void> pump_stdin(BytesPtr stream) {
    std::array<char, input_block> block{};
    for (;;) {
      const auto count = co_await stream->read_some(block);
      if (!count || *count == 0) break;
      ExecInput input{.kind = ExecInput::Kind::bytes, .bytes = std::string(block.data(), *count)};
      co_await push(std::move(input));
    }
    ExecInput end{.kind = ExecInput::Kind::end};
    co_await push(std::move(end));
  }

  asio::awaitable<void> pump_sizes(BytesPtr stream) {
    std::array<char, size_bytes_max> block{};
    std::string text;
    for (;;) {
      const auto count = co_await stream->read_some(block);
      if (!count || *count == 0) co_return;
      text.append(block.data(), *count);
      const auto sizes = take_sizes(text);
      if (!sizes) co_return log_debug("exec", {{"error", sizes.error()}});
      for (const TerminalSize& size : *sizes) {
        ExecInput input{.kind = ExecInput::Kind::resize, .size = size};
        co_await push(std::move(input));
      }
    }
  }

  asio::any_io_executor executor_;
  ExecStreamTablePtr table_;
  std::deque<ExecInput> inputs_;  // at most one per stream
};

asio::awaitable<void> serve_streams(BytesPtr connection, ExecStreamTablePtr table,
                                    std::vector<std::string> types) {
  const auto on_stream = [table, types](http::spdy::Stream stream) {
    const std::string type(stream.headers.get("streamType"));
    const bool wanted = std::find(types.begin(), types.end(), type) != types.end();
    if (!wanted || table->by_type.contains(type)) return false;
    table->by_type[type] = std::move(stream.bytes);
    table->changed.notify_all();
    return true;
  };
  const Status ended = co_await http::spdy::serve(std::move(connection), on_stream);
  if (!ended) log_debug("exec ended", {{"error", ended.error()}});
  table->is_over = true;
  table->changed.notify_all();
}

}  // namespace

Result<std::vector<TerminalSize>> take_sizes(std::string& text) {
  std::vector<TerminalSize> sizes;
  for (;;) {
    const std::size_t end = text.find('}');
    if (end == text.npos) break;
    TRY(const TerminalSize size, parse_terminal_size(std::string_view(text).substr(0, end + 1)));
    sizes.push_back(size);
    text.erase(0, end + 1);
  }
  if (text.size() > size_bytes_max) return fail(Errc::invalid, "exec: a size that does not end");
  return sizes;
}

asio::awaitable<void> run_spdy_exec(BytesPtr connection, ExecOptions options,
                                    proc::ProcessIdentity container) {
  const auto executor = co_await asio::this_coro::executor;
  const MonoTime limit = loop::clock_of(executor).mono() + streams_limit;
  const auto table = std::make_shared<ExecStreamTable>(executor);
  const std::vector<std::string> types = wanted_types(options);
  loop::Tasks tasks(executor);
  tasks.spawn("exec streams", serve_streams(connection, table, types));
  while (!table->is_over && table->by_type.size() < types.size()) {
    const bool more = co_await table->changed.wait_until(limit);
    if (!more) break;
  }
  if (table->by_type.size() == types.size()) {
    auto caller = std::make_shared<SpdyCaller>(executor, table);
    co_await run_exec(std::move(caller), std::move(options), std::move(container));
  }
  connection->close();
  tasks.cancel();
  co_await tasks.join();
}

}  // namespace holdfast::agent::node
