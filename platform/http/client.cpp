#include "platform/http/client.h"

#include <list>
#include <memory>
#include <span>

#include "platform/http/tunnel.h"
#include "platform/http/wire.h"
#include "platform/loop/timer.h"

namespace holdfast::http {
namespace {

using ConnectionPtr = std::shared_ptr<net::Connection>;

bool may_repeat(Method method) { return method != Method::post && method != Method::patch; }

}  // namespace

struct Client::Pool : std::enable_shared_from_this<Pool> {
  struct Kept {
    ConnectionPtr connection;
    MonoTime until;
  };

  Pool(Endpoint to, ClientLimits bounds) : endpoint(std::move(to)), limits(bounds) {}

  // A kept connection that still looks alive, or null.
  ConnectionPtr take_kept() {
    const MonoTime now = loop::BootClock::now();
    while (!kept.empty()) {
      Kept candidate = std::move(kept.back());
      kept.pop_back();
      if (candidate.until > now && candidate.connection->seems_open()) return candidate.connection;
    }
    return nullptr;
  }

  void keep(ConnectionPtr connection) {
    connection->expires_at(MonoTime::max());
    kept.push_back({std::move(connection), loop::BootClock::now() + limits.idle});
    if (kept.size() > limits.idle_connections) kept.pop_front();
  }

  Endpoint endpoint;
  ClientLimits limits;
  std::list<Kept> kept;
  Traffic traffic;
};

namespace {

using PoolPtr = std::shared_ptr<Client::Pool>;

constexpr std::size_t read_bytes = 16UL * 1024;

// A request on its way: one connection and what was read from it.
struct Exchange {
  ConnectionPtr connection;
  ResponseReader reader;
  bool answered = false;  // a byte of the answer has arrived
  // Kept for as long as the exchange lasts: a watch reads a small piece thousands of times.
  std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(read_bytes);
};

asio::awaitable<Status> read_more(Client::Pool& pool, Exchange& exchange) {
  const std::span<char> buffer(exchange.buffer.get(), read_bytes);
  CO_TRY(const std::size_t count, co_await exchange.connection->read_some(buffer));
  if (count == 0) co_return exchange.reader.put_end();
  exchange.answered = true;
  pool.traffic.received += count;
  co_return exchange.reader.put(std::string_view(buffer.data(), count));
}

asio::awaitable<Status> exchange_heads(Client::Pool& pool, Exchange& exchange,
                                       const std::string& bytes) {
  Status done = co_await exchange.connection->write(bytes);
  pool.traffic.sent += bytes.size();
  while (done && !exchange.reader.header_done()) done = co_await read_more(pool, exchange);
  co_return done;
}

// Sends on a kept connection or, if that turns out to be dead or there is none, on a new one.
asio::awaitable<Result<Exchange>> begin(PoolPtr pool, const Request& request, MonoTime deadline) {
  const std::string bytes = request_bytes(request, pool->endpoint.at.text());
  const bool is_head = request.method == Method::head;
  if (ConnectionPtr kept = pool->take_kept()) {
    Exchange exchange{kept, ResponseReader(pool->limits.reader, is_head)};
    kept->expires_at(deadline);
    const Status done = co_await exchange_heads(*pool, exchange, bytes);
    if (done) co_return exchange;
    const bool was_dead = done.error().code == Errc::unavailable && !exchange.answered;
    if (!was_dead || !may_repeat(request.method)) co_return fail(done.error());
  }
  CO_TRY(std::unique_ptr<net::Connection> fresh,
         co_await net::connect(pool->endpoint.at, pool->endpoint.tls, deadline));
  Exchange exchange{std::move(fresh), ResponseReader(pool->limits.reader, is_head)};
  exchange.connection->expires_at(deadline);
  const Status done = co_await exchange_heads(*pool, exchange, bytes);
  if (!done) co_return fail(done.error());
  co_return exchange;
}

void finish(Client::Pool& pool, Exchange& exchange) {
  if (exchange.reader.keep_alive()) {
    pool.keep(std::move(exchange.connection));
  } else {
    exchange.connection->close();
  }
}

class ClientStream final : public BodyStream {
 public:
  ClientStream(PoolPtr pool, Exchange exchange)
      : pool_(std::move(pool)), exchange_(std::move(exchange)) {}
  ~ClientStream() override {
    if (exchange_.connection) exchange_.connection->close();
  }

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "stream cancelled");
      std::string piece = exchange_.reader.take_body();
      if (!piece.empty()) co_return piece;
      if (exchange_.reader.done()) {
        if (exchange_.connection) finish(*pool_, exchange_);
        exchange_.connection.reset();
        co_return piece;
      }
      const Status read = co_await read_more(*pool_, exchange_);
      if (!read && !cancelled_) co_return fail(read.error());
    }
  }

  void cancel() override {
    cancelled_ = true;
    if (exchange_.connection) exchange_.connection->close();
  }

 private:
  PoolPtr pool_;
  Exchange exchange_;
  bool cancelled_ = false;
};

}  // namespace

Client::Client(Endpoint endpoint, ClientLimits limits)
    : pool_(std::make_shared<Pool>(std::move(endpoint), limits)) {}

Client::~Client() = default;

asio::awaitable<Result<Response>> Client::send(Request request, MonoTime deadline) {
  const PoolPtr pool = pool_;
  CO_TRY(Exchange exchange, co_await begin(pool, request, deadline));
  while (!exchange.reader.done()) {
    const Status read = co_await read_more(*pool, exchange);
    if (!read) co_return fail(read.error());
  }
  Response response = exchange.reader.head();
  response.body = exchange.reader.take_body();
  finish(*pool, exchange);
  co_return response;
}

asio::awaitable<Result<Response>> Client::open(Request request, MonoTime deadline) {
  const PoolPtr pool = pool_;
  CO_TRY(Exchange exchange, co_await begin(pool, request, deadline));
  Response response = exchange.reader.head();
  if (response.status == 101) {
    exchange.connection->expires_at(MonoTime::max());
    response.tunnel = with_bytes_before(exchange.connection, exchange.reader.take_rest());
    co_return response;
  }
  if (response.status >= 200 && response.status < 300) {
    exchange.connection->expires_at(MonoTime::max());
    exchange.reader.allow_endless_body();
    response.stream = std::make_shared<ClientStream>(pool, std::move(exchange));
    co_return response;
  }
  while (!exchange.reader.done()) {
    const Status read = co_await read_more(*pool, exchange);
    if (!read) co_return fail(read.error());
  }
  response.body = exchange.reader.take_body();
  finish(*pool, exchange);
  co_return response;
}

void Client::forget_connections() { pool_->kept.clear(); }

const Endpoint& Client::endpoint() const { return pool_->endpoint; }

Traffic Client::traffic() const { return pool_->traffic; }

}  // namespace holdfast::http
