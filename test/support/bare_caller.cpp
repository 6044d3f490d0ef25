#include "test/support/bare_caller.h"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "platform/loop/event.h"

namespace holdfast::test {

struct BareCaller::State {
  explicit State(const asio::any_io_executor& executor) : changed(executor) {}

  static asio::awaitable<void> run(std::shared_ptr<State> self, std::uint16_t port, bool reads);
  static asio::awaitable<void> read(std::shared_ptr<State> self);
  static asio::awaitable<void> write(std::shared_ptr<State> self);
  void end() {
    is_over = true;
    changed.notify_all();
  }

  std::shared_ptr<net::Connection> connection;
  std::string to_send;
  std::string heard;
  bool is_over = false;     // the peer ended the connection, or there is none
  bool is_hung_up = false;  // by the test
  loop::Event changed;
};

asio::awaitable<void> BareCaller::State::run(std::shared_ptr<State> self, std::uint16_t port,
                                             bool reads) {
  net::HostPort at;
  at.host = "127.0.0.1";
  at.port = port;
  auto made = co_await net::connect(at, nullptr, MonoTime::max());
  if (!made || self->is_hung_up) co_return self->end();
  self->connection = *std::move(made);
  const auto executor = co_await asio::this_coro::executor;
  if (reads) asio::co_spawn(executor, read(self), asio::detached);
  co_await write(self);
}

asio::awaitable<void> BareCaller::State::read(std::shared_ptr<State> self) {
  const auto connection = self->connection;
  std::array<char, 4096> block{};
  for (;;) {
    const auto count = co_await connection->read_some(block);
    if (count.value_or(0) == 0) co_return self->end();
    self->heard.append(block.data(), *count);
  }
}

asio::awaitable<void> BareCaller::State::write(std::shared_ptr<State> self) {
  const auto connection = self->connection;
  while (!self->is_over && !self->is_hung_up) {
    const std::string bytes = std::exchange(self->to_send, {});
    if (bytes.empty()) {
      co_await self->changed.wait();
      continue;
    }
    const Status sent = co_await connection->write(bytes);
    if (!sent) co_return;
  }
}

BareCaller::BareCaller(VirtualTime& time, std::uint16_t port, bool reads)
    : state_(std::make_shared<State>(time.executor())) {
  asio::co_spawn(time.executor(), State::run(state_, port, reads), asio::detached);
}

BareCaller::~BareCaller() {
  if (state_) hang_up();
}

void BareCaller::say(std::string_view bytes) {
  state_->to_send += bytes;
  state_->changed.notify_all();
}

std::string BareCaller::hear() { return std::exchange(state_->heard, {}); }

bool BareCaller::is_sent_away() const { return state_->is_over; }

void BareCaller::hang_up() {
  state_->is_hung_up = true;
  if (state_->connection) state_->connection->close();
  state_->changed.notify_all();
}

}  // namespace holdfast::test
