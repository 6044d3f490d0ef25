#include "platform/http/h2/transport.h"

#include <span>

#include "platform/loop/timer.h"

namespace holdfast::http::h2 {
namespace {

constexpr std::size_t read_bytes = 16UL * 1024;

}  // namespace

Transport::Transport(asio::any_io_executor executor, std::shared_ptr<net::Connection> connection,
                     Engine::Role role, const EngineLimits& limits, Owner& owner,
                     std::shared_ptr<Traffic> traffic)
    : connection_(std::move(connection)),
      owner_(owner),
      engine_(role, limits, owner),
      traffic_(std::move(traffic)),
      clock_(loop::clock_of(executor)),
      output_(std::move(executor)),
      received_at_(clock_.mono()) {
  connection_->expires_at(MonoTime::max());
}

asio::awaitable<void> Transport::read_all() {
  const auto space = std::make_unique_for_overwrite<char[]>(read_bytes);
  const std::span<char> buffer(space.get(), read_bytes);
  while (!over_) {
    const auto count = co_await connection_->read_some(buffer);
    if (over_) co_return;
    if (!count || *count == 0) {
      end(count ? Error{Errc::unavailable, "the peer closed the connection"} : count.error());
      co_return;
    }
    received_at_ = clock_.mono();
    traffic_->received += *count;
    const Status taken = engine_.receive(std::string_view(buffer.data(), *count));
    if (!taken) {
      end(taken.error());
      co_return;
    }
    owner_.on_received();
    flush();
  }
}

asio::awaitable<void> Transport::write_all() {
  while (!over_) {
    const std::string bytes = engine_.take_output();
    if (bytes.empty() && engine_.finished()) {
      const bool wrong = engine_.peer_violated_protocol();
      end(Error{wrong ? Errc::corrupt : Errc::unavailable,
                wrong ? "the peer violates HTTP/2" : "the peer is going away"});
      co_return;
    }
    if (bytes.empty()) {
      co_await output_.wait();
      continue;
    }
    blocked_since_ = clock_.mono();
    const Status sent = co_await connection_->write(bytes);
    blocked_since_ = MonoTime::max();
    traffic_->sent += bytes.size();
    if (!sent && !over_) end(sent.error());
  }
}

void Transport::end(Error why) { end(std::move(why), false); }

void Transport::abort(Error why) { end(std::move(why), true); }

void Transport::end(Error why, bool resets) {
  if (over_) return;
  over_ = true;
  if (resets) {
    connection_->reset();
  } else {
    connection_->close();
  }
  flush();
  owner_.on_ended(why);
}

}  // namespace holdfast::http::h2
