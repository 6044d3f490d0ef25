#include "platform/http/server.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>
#include <set>
#include <utility>
#include <vector>

#include "platform/http/h2/server_session.h"
#include "platform/http/tunnel.h"
#include "platform/http/wire.h"
#include "platform/log.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/scoped.h"

namespace holdfast::http {
namespace {

using ConnectionPtr = std::shared_ptr<net::Connection>;

// A client's connection.
struct Session {
  std::shared_ptr<Share> share;
  ConnectionPtr connection = {};            // null during the TLS handshake
  h2::ServerSession* h2_session = nullptr;  // set if the connection uses HTTP/2
  std::shared_ptr<BodyStream> stream = {};
  ConnectionPtr tunnel = {};  // the upstream side of a tunnel
  bool busy = false;          // a request is being answered
  bool by_owner = true;       // the request is authorized by the owner of the peer's socket
};

}  // namespace

struct Server::Shared : std::enable_shared_from_this<Shared> {
  Shared(asio::any_io_executor executor, ServerLimits bounds, Handler answer, Problem refuse,
         Gate guard)
      : limits(bounds),
        service{std::move(answer), std::move(refuse), std::move(guard)},
        shares(Shares::make(bounds.shares)),
        clock(loop::clock_of(executor)),
        tasks(std::move(executor)) {}

  asio::awaitable<void> accept_all(std::shared_ptr<net::Listener> listener);
  [[nodiscard]] std::shared_ptr<Share> share_for(const net::Peer& peer);
  asio::awaitable<void> serve(std::unique_ptr<net::Pending> pending, std::shared_ptr<Share> share);
  asio::awaitable<void> answer_all(Session& session);
  asio::awaitable<void> answer_side_by_side(Session& session);
  asio::awaitable<bool> receive(Session& session, RequestReader& reader);
  asio::awaitable<std::optional<Response>> read_request(Session& session, RequestReader& reader);
  [[nodiscard]] std::optional<Response> admit(Session& session, RequestReader& reader);
  asio::awaitable<void> refuse(Session& session, Response refusal, bool head_only);
  asio::awaitable<bool> answer(Session& session, Request request, bool keep_alive,
                               RequestReader& reader);
  asio::awaitable<void> send_tunnel(Session& session, Response response, std::string early);
  asio::awaitable<bool> send_stream(Session& session, Response response);
  asio::awaitable<bool> send_pieces(Session& session, BodyPieces& pieces);
  asio::awaitable<bool> send(Session& session, std::string bytes);

  ServerLimits limits;
  Service service;
  std::shared_ptr<Shares> shares;
  Refusals refusals;
  std::vector<std::shared_ptr<net::Listener>> listeners;
  std::set<Session*> sessions;
  std::size_t tunnels = 0;
  bool stopping = false;
  const Clock& clock;
  loop::Tasks tasks;
};

namespace {

// Lists a session while it exists.
class Registered {
 public:
  Registered(std::set<Session*>& all, Session* session) : all_(all), session_(session) {
    all_.insert(session_);
  }
  ~Registered() { all_.erase(session_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  std::set<Session*>& all_;
  Session* session_;
};

// A client sends nothing while it receives a stream. When it closes the connection, the stream has
// no reader any more.
asio::awaitable<void> cancel_on_hangup(ConnectionPtr connection,
                                       std::shared_ptr<BodyStream> stream) {
  std::array<char, 64> scratch{};
  (void)co_await connection->read_some(scratch);
  stream->cancel();
}

}  // namespace

Response plain_problem(int status, std::string_view message) {
  return Response{.status = status,
                  .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                  .body = std::string(message) + "\n"};
}

asio::awaitable<void> Server::Shared::accept_all(std::shared_ptr<net::Listener> listener) {
  const auto self = shared_from_this();
  while (!stopping) {
    auto pending = co_await listener->accept();
    if (!pending && pending.error().code == Errc::cancelled) co_return;
    if (!pending) {
      log_warn("accept failed", {{"error", pending.error()}});
      co_await loop::wait_for(std::chrono::milliseconds(100));  // Out of descriptors.
      continue;
    }
    std::shared_ptr<Share> share = share_for((*pending)->peer());
    if (share) tasks.spawn("http session", serve(*std::move(pending), std::move(share)));
  }
}

// Null if there is no room for another connection of this peer.
std::shared_ptr<Share> Server::Shared::share_for(const net::Peer& peer) {
  auto share = std::make_shared<Share>();
  const Shares::Room room = shares->enter(peer, service.gate.trusts(peer), *share);
  if (room == Shares::Room::yes) return share;
  const bool of_caller = room == Shares::Room::caller_full;
  ++(of_caller ? refusals.caller_full : refusals.server_full);
  log_warn(of_caller ? "too many connections from one caller" : "too many connections",
           {{"caller", caller_name(peer)}, {"limit", limits.shares.connections}});
  return nullptr;
}

asio::awaitable<void> Server::Shared::serve(std::unique_ptr<net::Pending> pending,
                                            std::shared_ptr<Share> share) {
  const auto self = shared_from_this();
  Session session{.share = std::move(share)};
  const Registered registered(sessions, &session);
  auto connection = co_await pending->establish(clock.mono() + limits.handshake);
  if (!connection) {
    log_debug("handshake failed", {{"error", connection.error()}});
    co_return;
  }
  pending.reset();
  session.connection = *std::move(connection);
  const net::Peer& peer = session.connection->peer();
  if (!peer.common_name.empty() && service.gate.trusts(peer)) session.share->trust();
  if (session.connection->protocol() == "h2") co_return co_await answer_side_by_side(session);
  co_await answer_all(session);
  session.connection->close();
}

asio::awaitable<void> Server::Shared::answer_side_by_side(Session& session) {
  const auto executor = co_await asio::this_coro::executor;
  h2::ServerSession h2_session(executor, tasks, session.connection, limits, service, session.share,
                               refusals);
  const ScopedValue set(session.h2_session, &h2_session);
  if (!stopping) co_await h2_session.run();
}

asio::awaitable<void> Server::Shared::answer_all(Session& session) {
  ReaderLimits bounds = limits.reader;
  bounds.stop_after_header = true;
  RequestReader reader(bounds);
  while (!stopping) {
    const bool received = co_await receive(session, reader);
    if (!received) co_return;
    bool keep_alive = false;
    Request request = reader.take(keep_alive);
    if (session.by_owner) session.connection->confirm_owner();
    request.peer = session.connection->peer();
    bool go_on = false;
    {
      const ScopedValue busy(session.busy, true);
      go_on = co_await answer(session, std::move(request), keep_alive, reader);
    }
    if (!go_on) co_return;
    // Bytes of the next request that have already arrived stay counted.
    const std::size_t taken = session.share->bytes();
    session.share->release_bytes(taken - std::min(taken, reader.body_size()));
  }
}

// Reads one complete request; returns false when the connection is over.
asio::awaitable<bool> Server::Shared::receive(Session& session, RequestReader& reader) {
  const auto refusal = co_await read_request(session, reader);
  if (!refusal) co_return reader.done();
  Response refused = *refusal;
  const bool head_only = reader.header_done() && reader.head().method == Method::head;
  co_await refuse(session, std::move(refused), head_only);
  co_return false;
}

// Asks the gate about a request's head; returns the response if it is refused.
std::optional<Response> Server::Shared::admit(Session& session, RequestReader& reader) {
  Request head = reader.head();
  head.peer = session.connection->peer();
  Admission admission = service.gate.admit(head);
  if (admission.refusal) ++refusals.gate;
  if (admission.refusal) return std::move(admission.refusal);
  session.by_owner = admission.by_owner;
  reader.accept_body(std::min(admission.body_bytes, limits.reader.body_bytes));
  return std::nullopt;
}

// Reads until the request is complete or the connection is over, and returns nothing. If the
// request is refused, returns the response.
asio::awaitable<std::optional<Response>> Server::Shared::read_request(Session& session,
                                                                      RequestReader& reader) {
  constexpr std::size_t bytes_idle = 1024;  // Keeps idle connections cheap.
  constexpr std::size_t bytes_busy = 16UL * 1024;
  std::optional<Response> refusal;
  std::vector<char> buffer(bytes_idle);
  session.connection->expires_at(clock.mono() + limits.idle);
  bool begun = false;
  bool admitted = false;
  Status fed = reader.put({});
  while (fed && !(admitted && reader.done())) {
    if (!begun && reader.begun()) {
      begun = true;
      session.connection->expires_at(clock.mono() + limits.receive);
      buffer.resize(bytes_busy);
    }
    if (!admitted && reader.header_done()) {
      refusal = admit(session, reader);
      if (refusal) co_return refusal;
      admitted = true;
      fed = reader.put({});
      continue;
    }
    if (reader.take_expectation()) {
      std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      const bool told = co_await send(session, std::move(go_on));
      if (!told) co_return refusal;
    }
    const auto count = co_await session.connection->read_some(buffer);
    if (!count || *count == 0) co_return refusal;
    if (!session.share->take(*count)) {
      ++refusals.memory;
      refusal = service.problem(429, "too many bytes of requests are being received already");
      co_return refusal;
    }
    fed = reader.put(std::string_view(buffer.data(), *count));
  }
  if (!fed) ++refusals.malformed;
  if (!fed) refusal = service.problem(reader.refusal(), fed.error().what);
  co_return refusal;
}

// Sends a refusal and closes the connection. `head_only`: the method was HEAD, whose response has
// no body.
asio::awaitable<void> Server::Shared::refuse(Session& session, Response refusal, bool head_only) {
  std::string bytes = response_head(refusal, Framing::length, false);
  if (!head_only) bytes += refusal.body;
  (void)co_await send(session, std::move(bytes));
  session.connection->shutdown_write();
  // Read on for a moment: closing with unread bytes would reset the connection, and the client
  // might lose the refusal.
  std::array<char, 1024> ignored{};
  session.connection->expires_at(clock.mono() + std::chrono::seconds(1));
  for (;;) {
    const auto count = co_await session.connection->read_some(ignored);
    if (!count || *count == 0) co_return;
  }
}

// Answers one request; returns false if the connection cannot be used again.
asio::awaitable<bool> Server::Shared::answer(Session& session, Request request, bool keep_alive,
                                             RequestReader& reader) {
  Response response = co_await service.handler(request);
  if (response.stream || response.tunnel) {
    // They can last for hours, and the request's body is not needed any more.
    (void)std::exchange(request.body, {});
    session.share->release_all_bytes();
  }
  if (response.tunnel && tunnels >= limits.tunnels) {
    response.tunnel->close();
    response = service.problem(503, "too many upgraded connections");
  }
  if (response.tunnel) {
    std::string early = reader.take_rest();
    co_await send_tunnel(session, std::move(response), std::move(early));
    co_return false;
  }
  if (response.stream) co_return co_await send_stream(session, std::move(response));
  if (!session.share->take_answer(response.body_memory(), session.share->bytes())) {
    ++refusals.memory;
    response = service.problem(503, "too many bytes of answers are being sent already");
  }
  const bool last = !keep_alive || stopping;
  const Framing framing = has_no_body(response.status) ? Framing::none : Framing::length;
  constexpr std::size_t small = 16UL * 1024;  // sent in one write with the head
  const bool with_body = request.method != Method::head && framing == Framing::length;
  const bool apart = with_body && response.body.size() > small;
  std::string bytes = response_head(response, framing, !last);
  if (with_body && !apart) bytes += response.body;
  bool sent = co_await send(session, std::move(bytes));
  if (sent && apart) sent = co_await send(session, std::move(response.body));
  if (sent && with_body && response.pieces) sent = co_await send_pieces(session, *response.pieces);
  co_return sent && !last;
}

asio::awaitable<bool> Server::Shared::send_pieces(Session& session, BodyPieces& pieces) {
  session.connection->expires_at(clock.mono() + limits.send);
  for (;;) {
    const auto piece = next_piece(pieces);
    if (!piece || piece->empty()) co_return piece.has_value();
    if (!co_await session.connection->write(*piece)) co_return false;
    if (pieces.is_light()) session.connection->expires_at(clock.mono() + limits.send);
  }
}

// `early`: bytes that the client sent before the response.
asio::awaitable<void> Server::Shared::send_tunnel(Session& session, Response response,
                                                  std::string early) {
  std::string head = response_head(response, Framing::none, true);
  const bool sent = co_await send(session, std::move(head));
  if (!sent || stopping) {
    response.tunnel->close();
    co_return;
  }
  const ScopedCount counted(tunnels);
  const ScopedValue set(session.tunnel, response.tunnel);
  session.connection->expires_at(MonoTime::max());
  ConnectionPtr near = with_bytes_before(session.connection, std::move(early));
  co_await pump_both_ways(std::move(near), response.tunnel, limits.tunnel);
}

asio::awaitable<bool> Server::Shared::send_stream(Session& session, Response response) {
  loop::Tasks hangup(co_await asio::this_coro::executor);
  std::string head = response_head(response, Framing::chunked, false);
  bool sent = co_await send(session, std::move(head));
  const ScopedValue set(session.stream, response.stream);
  session.connection->expires_at(MonoTime::max());
  hangup.spawn("hangup", cancel_on_hangup(session.connection, response.stream));
  while (sent && !stopping) {
    const auto piece = co_await response.stream->next();
    if (!piece) break;  // Without the last chunk the client knows that the body is incomplete.
    std::string bytes = piece->empty() ? std::string(last_chunk) : chunk(*piece);
    sent = co_await send(session, std::move(bytes));
    session.connection->expires_at(MonoTime::max());
    if (piece->empty()) break;
  }
  response.stream->cancel();
  co_return false;
}

asio::awaitable<bool> Server::Shared::send(Session& session, std::string bytes) {
  session.connection->expires_at(clock.mono() + limits.send);
  const Status sent = co_await session.connection->write(bytes);
  co_return sent.has_value();
}

bool is_root_or_self(const net::Peer& peer) {
  return peer.owner && (peer.owner->uid == 0 || peer.owner->uid == ::geteuid());
}

Server::Server(asio::any_io_executor executor, ServerLimits limits, Handler handler,
               Problem problem, Gate gate)
    : shared_(std::make_shared<Shared>(std::move(executor), limits, std::move(handler),
                                       std::move(problem), std::move(gate))) {}

Server::~Server() { shared_->tasks.cancel(); }

void Server::listen(std::unique_ptr<net::Listener> listener) {
  std::shared_ptr<net::Listener> shared = std::move(listener);
  shared_->listeners.push_back(shared);
  shared_->tasks.spawn("accept", shared_->accept_all(shared));
}

asio::awaitable<void> Server::stop(MonoTime deadline) {
  const auto shared = shared_;
  shared->stopping = true;
  for (const auto& listener : shared->listeners) listener->close();
  for (Session* session : shared->sessions) {
    if (session->connection == nullptr) continue;
    if (session->h2_session != nullptr) {
      session->h2_session->stop();
    } else if (session->stream) {
      session->stream->cancel();
    } else if (session->tunnel) {
      session->connection->close();
      session->tunnel->close();
    } else if (!session->busy) {
      session->connection->close();
    }
  }
  const bool ended = co_await shared->tasks.join_until(deadline);
  if (ended) co_return;
  shared->tasks.cancel();
  co_await shared->tasks.join();
}

std::size_t Server::connections() const { return shared_->sessions.size(); }

const Refusals& Server::refusals() const { return shared_->refusals; }

}  // namespace holdfast::http
