#include "platform/http/h1_exchange.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "platform/http/hops.h"
#include "platform/http/tunnel.h"
#include "platform/http/wire.h"
#include "platform/loop/timer.h"
#include "platform/net/wrapped_connection.h"
#include "platform/text.h"
#include "platform/tls/digest.h"

namespace holdfast::http::h1 {
namespace {

using PoolPtr = std::shared_ptr<Pool>;

constexpr std::size_t read_bytes = 16UL * 1024;

// The connection of a request that has no complete response yet. Unless it is released it is reset,
// so that a request that was given up does not reach the server later: what a broken link holds up
// would be delivered when the link returns, long after newer requests.
class OwnConnection {
 public:
  explicit OwnConnection(ConnectionPtr connection) : connection_(std::move(connection)) {}
  ~OwnConnection() { reset(); }
  OwnConnection(OwnConnection&& other) noexcept = default;
  OwnConnection& operator=(OwnConnection&& other) = delete;
  OwnConnection(const OwnConnection&) = delete;
  OwnConnection& operator=(const OwnConnection&) = delete;

  net::Connection* operator->() const { return connection_.get(); }
  explicit operator bool() const { return connection_ != nullptr; }
  [[nodiscard]] ConnectionPtr release() { return std::exchange(connection_, nullptr); }
  // Pending operations fail with `cancelled`.
  void reset() {
    if (connection_) connection_->reset();
  }

 private:
  ConnectionPtr connection_;
};

// A request in progress: its connection and the reader of its response.
struct Exchange {
  OwnConnection connection;
  ResponseReader reader;
  std::string identity;
  bool answered = false;  // a byte of the response has arrived
  // Allocated once per exchange: a watch reads a small piece thousands of times.
  std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(read_bytes);
};

asio::awaitable<Status> read_more(Pool& pool, Exchange& exchange) {
  const std::span<char> buffer(exchange.buffer.get(), read_bytes);
  CO_TRY(const std::size_t count, co_await exchange.connection->read_some(buffer));
  if (count == 0) co_return exchange.reader.put_end();
  exchange.answered = true;
  pool.traffic->received += count;
  co_return exchange.reader.put(std::string_view(buffer.data(), count));
}

// Sends the request and reads the head of the response.
asio::awaitable<Status> exchange_heads(Pool& pool, Exchange& exchange, const Request& request,
                                       MonoTime deadline) {
  CO_TRY(const std::string bytes, request_bytes(request, pool.host));
  exchange.connection->expires_at(deadline);
  Status done = co_await exchange.connection->write(bytes);
  pool.traffic->sent += bytes.size();
  while (done && !exchange.reader.header_done()) done = co_await read_more(pool, exchange);
  co_return done;
}

Exchange begin(const Pool& pool, ConnectionPtr connection, const Request& request, bool streamed) {
  ReaderLimits limits = pool.limits.reader;
  // Whether the body will be a stream is known only after the head, which may announce any length.
  if (streamed) limits.body_bytes = std::numeric_limits<std::size_t>::max();
  // Only a caller of open() can take a tunnel.
  const Asked asked{.head = request.method == Method::head,
                    .upgrade = streamed && asks_for_upgrade(request.headers)};
  return Exchange{OwnConnection(std::move(connection)), ResponseReader(limits, asked),
                  identity_of(request)};
}

void finish(Pool& pool, Exchange& exchange, MonoTime now) {
  ConnectionPtr connection = exchange.connection.release();
  if (exchange.reader.keep_alive()) {
    pool.keep(std::move(connection), std::move(exchange.identity), now);
  } else {
    connection->close();
  }
}

class Body final : public BodyStream {
 public:
  Body(PoolPtr pool, Exchange exchange) : pool_(std::move(pool)), exchange_(std::move(exchange)) {}
  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "stream cancelled");
      std::string piece = exchange_.reader.take_body();
      if (!piece.empty()) co_return piece;
      if (exchange_.reader.done()) {
        const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
        if (exchange_.connection) finish(*pool_, exchange_, clock.mono());
        co_return piece;
      }
      const Status read = co_await read_more(*pool_, exchange_);
      if (!read && !cancelled_) co_return fail(read.error());
    }
  }

  void cancel() override {
    cancelled_ = true;
    exchange_.connection.reset();
  }

 private:
  PoolPtr pool_;
  Exchange exchange_;
  bool cancelled_ = false;
};

// A tunnel whose bytes are counted in Traffic.
class CountedTunnel final : public net::WrappedConnection {
 public:
  CountedTunnel(ConnectionPtr inner, std::shared_ptr<Traffic> traffic)
      : WrappedConnection(std::move(inner)), traffic_(std::move(traffic)) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    auto count = co_await inner().read_some(into);
    traffic_->received += count.value_or(0);
    co_return count;
  }
  asio::awaitable<Status> write(std::string_view bytes) override {
    traffic_->sent += bytes.size();
    return inner().write(bytes);
  }

 private:
  std::shared_ptr<Traffic> traffic_;
};

// After the head: returns a stream or a tunnel, or reads the rest of the body.
asio::awaitable<Result<Response>> complete(PoolPtr pool, Exchange exchange, bool streamed) {
  Response response = exchange.reader.head();
  if (streamed && response.status == 101) {
    exchange.connection->expires_at(MonoTime::max());
    auto counted = std::make_shared<CountedTunnel>(exchange.connection.release(), pool->traffic);
    response.tunnel = with_bytes_before(std::move(counted), exchange.reader.take_rest());
    co_return response;
  }
  if (streamed && response.status >= 200 && response.status < 300) {
    exchange.connection->expires_at(MonoTime::max());
    exchange.reader.allow_endless_body();
    response.stream = std::make_shared<Body>(pool, std::move(exchange));
    co_return response;
  }
  while (!exchange.reader.done()) {
    const Status read = co_await read_more(*pool, exchange);
    if (!read) co_return fail(read.error());
    response.body += exchange.reader.take_body();
    if (response.body.size() > pool->limits.reader.body_bytes) {
      co_return fail(Errc::exhausted, "response: body limit exceeded");
    }
  }
  response.body += exchange.reader.take_body();
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  finish(*pool, exchange, clock.mono());
  co_return response;
}

}  // namespace

std::string identity_of(const Request& request) {
  std::string said;
  for (const Header& header : request.headers) {
    if (!is_about_caller(header.name)) continue;
    said.append(to_lower(header.name)).append(1, ':').append(header.value).append(1, '\n');
  }
  return said.empty() ? said : tls::sha256_hex(said);
}

ConnectionPtr Pool::take(std::string_view identity, MonoTime now) {
  ConnectionPtr found;
  for (auto at = kept.end(); at != kept.begin() && !found;) {
    --at;
    if (at->until > now && at->identity != identity) continue;
    if (at->until > now && at->connection->seems_open()) found = at->connection;
    at = kept.erase(at);
  }
  return found;
}

void Pool::keep(ConnectionPtr connection, std::string identity, MonoTime now) {
  connection->expires_at(MonoTime::max());
  const auto same = [&identity](const Kept& other) { return other.identity == identity; };
  const auto count = static_cast<std::size_t>(std::count_if(kept.begin(), kept.end(), same));
  if (count >= limits.idle_connections) {
    const auto oldest = std::find_if(kept.begin(), kept.end(), same);
    if (oldest == kept.end()) return connection->close();  // The limit is 0.
    kept.erase(oldest);
  }
  kept.push_back({std::move(connection), std::move(identity), now + limits.idle});
  if (kept.size() > limits.idle_total) kept.pop_front();
}

asio::awaitable<std::optional<Result<Response>>> ask_kept(PoolPtr pool, const Request& request,
                                                          bool streamed, MonoTime deadline) {
  std::optional<Result<Response>> answer;
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  ConnectionPtr connection = pool->take(identity_of(request), clock.mono());
  if (connection == nullptr) co_return answer;
  Exchange exchange = begin(*pool, std::move(connection), request, streamed);
  const Status done = co_await exchange_heads(*pool, exchange, request, deadline);
  if (done) {
    answer = co_await complete(pool, std::move(exchange), streamed);
    co_return answer;
  }
  const bool was_dead = done.error().code == Errc::unavailable && !exchange.answered;
  if (!was_dead || !may_repeat(request.method, request.repeatable)) answer = fail(done.error());
  co_return answer;
}

asio::awaitable<Result<Response>> ask(PoolPtr pool, ConnectionPtr connection,
                                      const Request& request, bool streamed, MonoTime deadline) {
  Exchange exchange = begin(*pool, std::move(connection), request, streamed);
  const Status done = co_await exchange_heads(*pool, exchange, request, deadline);
  if (!done) co_return fail(done.error());
  co_return co_await complete(pool, std::move(exchange), streamed);
}

}  // namespace holdfast::http::h1
