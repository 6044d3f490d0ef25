#include "platform/http/tunnel.h"

#include <boost/asio/this_coro.hpp>
#include <utility>
#include <vector>

#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/net/wrapped_connection.h"

namespace holdfast::http {
namespace {

using ConnectionPtr = std::shared_ptr<net::Connection>;

// State that both directions share.
struct TunnelState {
  TunnelLimits limits;
  const Clock& clock;
  bool half_closed = false;
};

// Copies until `from` ends, then closes the sending side of `to`. An error closes both.
asio::awaitable<void> pump(ConnectionPtr from, ConnectionPtr to,
                           std::shared_ptr<TunnelState> state) {
  std::vector<char> buffer(16UL * 1024);
  for (;;) {
    if (state->half_closed) from->expires_at(state->clock.mono() + state->limits.half_closed);
    const auto count = co_await from->read_some(buffer);
    if (!count) break;
    if (*count == 0) {
      to->shutdown_write();
      if (!std::exchange(state->half_closed, true)) {
        to->expires_at(state->clock.mono() + state->limits.half_closed);
      }
      co_return;
    }
    const Status sent = co_await to->write(std::string_view(buffer.data(), *count));
    if (!sent) break;
  }
  from->close();
  to->close();
}

class Prefixed final : public net::WrappedConnection {
 public:
  Prefixed(ConnectionPtr inner, std::string bytes)
      : WrappedConnection(std::move(inner)), bytes_(std::move(bytes)) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    if (bytes_.empty()) co_return co_await inner().read_some(into);
    const std::size_t count = bytes_.copy(into.data(), into.size());
    bytes_.erase(0, count);
    co_return count;
  }

 private:
  std::string bytes_;
};

}  // namespace

ConnectionPtr with_bytes_before(ConnectionPtr connection, std::string bytes) {
  if (bytes.empty()) return connection;
  return std::make_shared<Prefixed>(std::move(connection), std::move(bytes));
}

asio::awaitable<void> pump_both_ways(ConnectionPtr left, ConnectionPtr right, TunnelLimits limits) {
  const auto executor = co_await asio::this_coro::executor;
  auto state = std::make_shared<TunnelState>(TunnelState{limits, loop::clock_of(executor)});
  loop::Tasks back(executor);
  back.spawn("tunnel", pump(right, left, state));
  co_await pump(left, right, state);
  co_await back.join();
  left->close();
  right->close();
}

}  // namespace holdfast::http
