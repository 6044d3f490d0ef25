#include "agent/lab/faults/proxied_connection.h"

#include "platform/check.h"
#include "platform/log.h"
#include "platform/loop/clock.h"

namespace holdfast::agent::faults {
namespace {

constexpr Duration connect_limit = std::chrono::seconds(5);
constexpr std::size_t read_bytes = 16UL * 1024;

std::size_t index_of(Stream direction) { return direction == Stream::upstream ? 0 : 1; }

}  // namespace

ProxiedConnection::ProxiedConnection(const asio::any_io_executor& executor,
                                     std::unique_ptr<net::Connection> client, Settings settings)
    : clock_(loop::clock_of(executor)),
      executor_(executor),
      settings_(std::move(settings)),
      link_(settings_.seed),
      client_(std::move(client)),
      changed_(executor) {
  ++settings_.load->connections;
  for (const Toxic& toxic : settings_.toxics) link_.add(clock_.mono(), toxic);
}

ProxiedConnection::~ProxiedConnection() {
  --settings_.load->connections;
  settings_.load->held_bytes -= held_bytes_;
}

asio::awaitable<void> ProxiedConnection::run(std::shared_ptr<ProxiedConnection> self) {
  loop::Tasks tasks(self->executor_);
  // In a black hole, only reading shows whether the client has ended. Otherwise it is read from
  // when there is a server to write to.
  const bool reads_first = self->link_.pipe(Stream::upstream).is_black_hole();
  if (reads_first) tasks.spawn("proxy: read from client", read(self, Stream::upstream));
  const bool connected = co_await connect(self);
  if (connected) {
    if (!reads_first) tasks.spawn("proxy: read from client", read(self, Stream::upstream));
    tasks.spawn("proxy: write to server", write(self, Stream::upstream));
    tasks.spawn("proxy: read from server", read(self, Stream::downstream));
    tasks.spawn("proxy: write to client", write(self, Stream::downstream));
  } else {
    self->close();
  }
  co_await tasks.join();
}

void ProxiedConnection::add(const Toxic& toxic) {
  link_.add(clock_.mono(), toxic);
  wake();
}

void ProxiedConnection::change(const Toxic& toxic) {
  link_.change(clock_.mono(), toxic);
  wake();
}

void ProxiedConnection::remove(const Toxic& toxic) {
  link_.remove(clock_.mono(), toxic);
  wake();
}

// A client that ends while the server is not connected is forgotten: otherwise a long outage would
// collect every connection that was attempted in it.
asio::awaitable<bool> ProxiedConnection::connect(Self self) {
  while (!self->is_over_ && self->link_.pipe(Stream::upstream).is_black_hole()) {
    if (self->client_has_ended_) co_return false;
    co_await self->changed_.wait();
  }
  if (self->is_over_) co_return false;
  const MonoTime deadline = self->clock_.mono() + connect_limit;
  auto server =
      co_await net::connect_inside(self->settings_.connect_in, self->settings_.server, deadline);
  if (self->is_over_) co_return false;
  if (!server) {
    log_debug("proxy cannot reach the server", {{"error", server.error()}});
    co_return false;
  }
  self->server_ = *std::move(server);
  co_return true;
}

asio::awaitable<void> ProxiedConnection::read(Self self, Stream direction) {
  std::vector<char> buffer(read_bytes);
  for (;;) {
    while (!self->is_over_ && !self->has_room(direction)) co_await self->changed_.wait();
    if (self->is_over_) co_return;
    const auto count = co_await self->source_of(direction).read_some(buffer);
    if (self->is_over_) co_return;
    Piece piece;
    if (!count) {
      piece.kind = Piece::Kind::reset;
      // As over a cable, a reset takes with it what the sender's kernel could not deliver.
      self->drops_.at(index_of(direction)) = self->link_.pipe(direction).is_black_hole();
    } else if (*count == 0) {
      piece.kind = Piece::Kind::end;
    } else {
      piece.bytes.assign(buffer.data(), *count);
      self->traffic_of(direction).received += *count;
    }
    const bool has_ended = piece.kind != Piece::Kind::bytes;
    self->client_has_ended_ =
        self->client_has_ended_ || (has_ended && direction == Stream::upstream);
    self->feed(direction, std::move(piece));
    if (has_ended) co_return;
  }
}

asio::awaitable<void> ProxiedConnection::write(Self self, Stream direction) {
  Pipe& pipe = self->link_.pipe(direction);
  while (!self->is_over_) {
    std::optional<Piece> piece = pipe.next(self->clock_.mono());
    if (!piece) {
      co_await self->changed_.wait_until(pipe.deadline());
      continue;
    }
    self->wake();  // The reader may have waited for room.
    if (piece->kind == Piece::Kind::bytes && self->drops_.at(index_of(direction))) continue;
    const bool goes_on = co_await deliver(self, direction, *std::move(piece));
    if (!goes_on) co_return;
  }
}

asio::awaitable<bool> ProxiedConnection::deliver(Self self, Stream direction, Piece piece) {
  switch (piece.kind) {
    case Piece::Kind::bytes: {
      const Status sent = co_await self->target_of(direction).write(piece.bytes);
      if (self->is_over_) co_return false;
      if (sent) {
        self->traffic_of(direction).sent += piece.bytes.size();
        co_return true;
      }
      // The target is gone. The other side learns that through the toxics of its own direction.
      Piece gone;
      gone.kind = Piece::Kind::reset;
      self->feed(opposite(direction), std::move(gone));
      co_return false;
    }
    case Piece::Kind::end:
      self->target_of(direction).shutdown_write();
      if (++self->ended_directions_ == 2) self->close();
      co_return !self->is_over_;
    case Piece::Kind::close:
    case Piece::Kind::reset:
      self->end(piece.kind);
      co_return false;
  }
  UNREACHABLE();
}

void ProxiedConnection::feed(Stream direction, Piece piece) {
  link_.pipe(direction).feed(clock_.mono(), std::move(piece));
  wake();
}

bool ProxiedConnection::has_room(Stream direction) {
  const Pipe& pipe = link_.pipe(direction);
  const ProxyLoad& load = *settings_.load;
  if (load.held_bytes < load.limits.held_bytes) return pipe.has_room();
  return pipe.held() < load.limits.held_bytes_min;
}

void ProxiedConnection::end(Piece::Kind how) {
  if (is_over_) return;
  is_over_ = true;
  for (net::Connection* const side : {client_.get(), server_.get()}) {
    if (side == nullptr) continue;
    if (how == Piece::Kind::reset) {
      side->reset();
    } else {
      side->close();
    }
  }
  changed_.notify_all();
}

void ProxiedConnection::wake() {
  settings_.load->held_bytes -= held_bytes_;
  held_bytes_ = link_.held();
  settings_.load->held_bytes += held_bytes_;
  changed_.notify_all();
}

net::Connection& ProxiedConnection::source_of(Stream direction) {
  return direction == Stream::upstream ? *client_ : *server_;
}

net::Connection& ProxiedConnection::target_of(Stream direction) {
  return source_of(opposite(direction));
}

ProxyTraffic& ProxiedConnection::traffic_of(Stream direction) {
  return direction == Stream::upstream ? *settings_.upstream : *settings_.downstream;
}

}  // namespace holdfast::agent::faults
