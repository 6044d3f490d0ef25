#include "platform/net/memory_socket.h"

#include <algorithm>

namespace holdfast::net {

using boost::system::error_code;

MemorySocket::Ends MemorySocket::connect(const asio::any_io_executor& executor, End client,
                                         End server, std::shared_ptr<LinkDirection> to_server,
                                         std::shared_ptr<LinkDirection> to_client) {
  const auto up = MemoryPipe::create(executor, std::move(to_server));
  const auto down = MemoryPipe::create(executor, std::move(to_client));
  const auto near = std::make_shared<State>(State{.executor = executor,
                                                  .peer = std::move(client.peer),
                                                  .owner = client.owner,
                                                  .in = down,
                                                  .out = up});
  const auto far = std::make_shared<State>(State{.executor = executor,
                                                 .peer = std::move(server.peer),
                                                 .owner = server.owner,
                                                 .in = up,
                                                 .out = down});
  near->other = far;
  far->other = near;
  return {MemorySocket(near), MemorySocket(far)};
}

MemorySocket::Watched MemorySocket::watched() const {
  Watched made;
  made.near_ = state_;
  made.far_ = state_->other;
  return made;
}

bool MemorySocket::Watched::is_open() const {
  const auto near = near_.lock();
  const auto far = far_.lock();
  return (near && !near->is_closed) || (far && !far->is_closed);
}

void MemorySocket::Watched::reset() {
  for (const auto& end : {near_.lock(), far_.lock()}) {
    if (end) end->in->reset(true);
  }
}

MemorySocket::~MemorySocket() {
  if (state_) close(*state_, false);
}

void MemorySocket::close(State& state, bool resets) {
  if (std::exchange(state.is_closed, true)) return;
  // As TCP does: a peer that sent what nobody will read is told so by a reset, after the bytes that
  // have been sent to it.
  if (resets || state.in->has_unread()) {
    state.out->reset(resets);
  } else {
    state.out->end();
  }
  state.in->abandon();
  state.out->wake();
}

void MemorySocket::cancel(error_code& ec) {
  ec = {};
  state_->cancels_read = state_->is_reading;
  state_->cancels_write = state_->is_writing;
  if (state_->is_reading) state_->in->wake();
  if (state_->is_writing) state_->out->wake();
}

void MemorySocket::close(error_code& ec) {
  ec = {};
  close(*state_, false);
}

std::optional<MemorySocket::Outcome> MemorySocket::Reading::attempt(State& state) const {
  if (state.is_closed || std::exchange(state.cancels_read, false)) {
    return Outcome{asio::error::operation_aborted};
  }
  if (into.empty()) return Outcome{};
  if (!state.in->has_arrived()) return std::nullopt;
  MemoryPipe::State found{};
  const std::size_t count = state.in->read(into, found);
  if (found == MemoryPipe::State::ended) return Outcome{asio::error::eof};
  if (found == MemoryPipe::State::reset) return Outcome{asio::error::connection_reset};
  return Outcome{{}, count};
}

std::optional<MemorySocket::Outcome> MemorySocket::Writing::attempt(State& state) const {
  if (state.is_closed || std::exchange(state.cancels_write, false)) {
    return Outcome{asio::error::operation_aborted};
  }
  if (bytes.empty()) return Outcome{};
  if (state.out->is_closed() || state.knows_reader_gone) return Outcome{asio::error::broken_pipe};
  const std::size_t count = std::min(bytes.size(), state.out->room());
  if (count == 0) return std::nullopt;
  state.out->write(bytes.substr(0, count));
  state.knows_reader_gone = state.out->is_known_abandoned();
  return Outcome{{}, count};
}

std::optional<SocketOwner> owner_of_loopback_peer(const MemorySocket& socket) {
  const auto other = socket.state_->other.lock();
  return other && !other->is_closed ? other->owner : std::nullopt;
}

bool is_quiet(MemorySocket& socket) {
  return !socket.state_->is_closed && !socket.state_->in->has_arrived();
}

void end_sending(MemorySocket& socket) {
  if (!socket.state_->is_closed) socket.state_->out->end();
}

void send_reset(MemorySocket& socket) { MemorySocket::close(*socket.state_, true); }

void send_now(MemorySocket& socket, std::string_view bytes) {
  MemorySocket::State& state = *socket.state_;
  if (state.is_closed || state.out->is_closed()) return;
  const std::size_t count = std::min(bytes.size(), state.out->room());
  if (count > 0) state.out->write(bytes.substr(0, count));
}

}  // namespace holdfast::net
