#include "platform/http/h2/server_session.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "platform/http/h2/fields.h"
#include "platform/http/h2/transport_tasks.h"
#include "platform/http/wire.h"
#include "platform/loop/timer.h"
#include "platform/loop/turns.h"
#include "platform/token_bucket.h"

namespace holdfast::http::h2 {
namespace {

// How many bytes of a stream may be unsent before its next piece is requested.
constexpr std::size_t unsent_max = 64UL * 1024;

// Streams that the peer may reset, or break the protocol on, before the connection ends: at once,
// and per second on average. The rate is nghttp2's default, and the burst a fifth of its default.
constexpr double resets_burst = 200;
constexpr double resets_per_second = 33;

struct Stream {
  Stream(asio::any_io_executor executor, StreamId number, MonoTime now)
      : id(number), begun_at(now), changed(std::move(executor)) {}

  StreamId id;
  MonoTime begun_at;
  Request request;
  std::optional<Response> refusal;  // the response, instead of calling the handler
  std::size_t body_max = 0;         // bytes
  std::size_t bytes = 0;            // taken from the connection's share
  bool complete = false;            // the whole request has arrived
  bool answering = false;           // its answer() task runs
  bool closed = false;              // the engine has forgotten it
  std::shared_ptr<BodyStream> source;
  loop::Event changed;  // it was closed, or bytes were sent
};

using StreamPtr = std::shared_ptr<Stream>;

// One running answer() task, from before its first turn to its end: it is counted, and holds the
// bytes that its stream has taken from the connection's share. `count` shares the ownership of what
// contains it, because the order in which a coroutine's parameters are destroyed differs between
// compilers.
class Answering {
 public:
  Answering(std::shared_ptr<std::size_t> count, std::shared_ptr<Share> share, StreamPtr stream)
      : count_(std::move(count)), share_(std::move(share)), stream_(std::move(stream)) {
    ++*count_;
  }
  ~Answering() {
    --*count_;
    share_->release_bytes(std::exchange(stream_->bytes, 0));
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  std::shared_ptr<std::size_t> count_;
  std::shared_ptr<Share> share_;
  StreamPtr stream_;
};

}  // namespace

struct ServerSession::Core final : Transport::Owner, std::enable_shared_from_this<Core> {
  Core(const asio::any_io_executor& where, loop::Tasks& group,
       std::shared_ptr<net::Connection> connection, const ServerLimits& bounds,
       const Service& asked, std::shared_ptr<Share> part, Refusals& refused)
      : executor(where),
        tasks(group),
        limits(bounds),
        service(asked),
        share(std::move(part)),
        refusals(refused),
        transport(where, std::move(connection), Engine::Role::server, engine_limits(bounds), *this,
                  std::make_shared<Traffic>()),
        turns(where),
        attention(where),
        idle_since(transport.clock().mono()),
        resets(idle_since, resets_per_second, {.capacity = resets_burst}) {}

  static EngineLimits engine_limits(const ServerLimits& bounds) {
    EngineLimits made = bounds.http2;
    made.header_bytes = bounds.reader.header_bytes;
    return made;
  }

  void on_settings() override {}
  void on_headers(StreamId id, Block block) override;
  void on_data(StreamId id, std::string_view bytes) override;
  void on_end(StreamId id) override;
  void on_sent(StreamId id) override;
  void on_closed(StreamId id, Code code) override;
  void on_reset(StreamId id) override;
  void on_goaway(Code) override {}
  void on_received() override {}
  void on_ended(const Error& why) override;

  void read_head(Stream& stream, Block block);
  void refuse(Stream& stream, int status, std::string_view reason);
  [[nodiscard]] bool take_memory(Stream& stream, std::size_t bytes);
  void release_bytes(Stream& stream);
  void begin_answer(const StreamPtr& stream);
  void close(Stream& stream);
  void reset(Stream& stream, Code code);
  MonoTime look_after(MonoTime now);
  void leave();

  // The parameters also keep this core and the count of running tasks while the task exists.
  asio::awaitable<void> answer(std::shared_ptr<Core> self, StreamPtr stream,
                               std::shared_ptr<Answering> counted);
  asio::awaitable<void> send_stream(StreamPtr stream);
  asio::awaitable<void> send_pieces(StreamPtr stream, BodyPieces& pieces);
  asio::awaitable<bool> taken(StreamPtr stream, std::size_t rest);

  asio::any_io_executor executor;
  loop::Tasks& tasks;
  ServerLimits limits;
  Service service;
  std::shared_ptr<Share> share;
  Refusals& refusals;
  Transport transport;
  std::unordered_map<StreamId, StreamPtr> streams;
  // For requests: a connection that sends a hundred at once delays neither the first of their
  // answers nor other connections until all are handled.
  loop::Turns turns;
  std::size_t answering = 0;  // running answer() tasks, also of closed streams
  loop::Event attention;
  MonoTime idle_since;
  TokenBucket resets;
  bool leaving = false;
};

void ServerSession::Core::on_headers(StreamId id, Block block) {
  if (streams.contains(id)) return;  // Trailers.
  // Twice the limit: the handler of a cancelled stream needs a moment to end.
  if (answering >= 2UL * limits.http2.streams) {
    transport.engine().reset(id, Code::refused_stream);
    return;
  }
  if (streams.empty()) attention.notify_all();
  const auto stream = std::make_shared<Stream>(executor, id, transport.clock().mono());
  streams.emplace(id, stream);
  read_head(*stream, std::move(block));
  if (stream->refusal) begin_answer(stream);
}

void ServerSession::Core::read_head(Stream& stream, Block block) {
  if (block.too_long) return refuse(stream, 431, "the headers are over the limit");
  std::size_t bytes = 0;
  for (const Header& field : block.fields) bytes += field.name.size() + field.value.size();
  auto request = to_request(block.fields);
  if (!request) return refuse(stream, 400, request.error().what);
  stream.request = *std::move(request);
  stream.request.peer = transport.connection().peer();
  if (!take_memory(stream, bytes)) return;
  Admission admission = service.gate.admit(stream.request);
  if (admission.refusal) ++refusals.gate;
  stream.refusal = std::move(admission.refusal);
  stream.body_max = std::min(admission.body_bytes, limits.reader.body_bytes);
}

void ServerSession::Core::refuse(Stream& stream, int status, std::string_view reason) {
  ++refusals.malformed;
  stream.refusal = service.problem(status, reason);
}

// Counts bytes of a request. If there is no room for them, returns false and refuses the request.
bool ServerSession::Core::take_memory(Stream& stream, std::size_t bytes) {
  if (share->take(bytes)) {
    stream.bytes += bytes;
    return true;
  }
  ++refusals.memory;
  stream.refusal = service.problem(429, "too many bytes of requests are being received already");
  return false;
}

void ServerSession::Core::release_bytes(Stream& stream) {
  share->release_bytes(std::exchange(stream.bytes, 0));
}

void ServerSession::Core::on_data(StreamId id, std::string_view bytes) {
  const auto at = streams.find(id);
  if (at == streams.end() || at->second->answering) return;
  const StreamPtr stream = at->second;
  if (!take_memory(*stream, bytes.size())) return begin_answer(stream);
  stream->request.body += bytes;
  if (stream->request.body.size() > stream->body_max) {
    refuse(*stream, 413, "the body is over the limit");
    begin_answer(stream);
    return;
  }
  transport.engine().consume(id, bytes.size());
}

void ServerSession::Core::on_end(StreamId id) {
  const auto at = streams.find(id);
  if (at == streams.end()) return;
  const StreamPtr stream = at->second;
  stream->complete = true;
  begin_answer(stream);
}

void ServerSession::Core::on_sent(StreamId id) {
  const auto at = streams.find(id);
  if (at != streams.end()) at->second->changed.notify_all();
}

void ServerSession::Core::on_closed(StreamId id, Code) {
  const auto at = streams.find(id);
  if (at == streams.end()) return;
  const StreamPtr stream = at->second;
  streams.erase(at);
  if (!stream->answering) release_bytes(*stream);
  close(*stream);
  if (!streams.empty()) return;
  idle_since = transport.clock().mono();
  attention.notify_all();
}

// Rapid resets are an attack: CVE-2023-44487 by the client's frames, CVE-2025-8671 by ours.
void ServerSession::Core::on_reset(StreamId) {
  if (resets.take(transport.clock().mono())) return;
  transport.engine().terminate(Code::enhance_your_calm);
  transport.flush();
}

void ServerSession::Core::on_ended(const Error&) {
  for (const auto& [id, stream] : std::exchange(streams, {})) close(*stream);
  attention.notify_all();
}

void ServerSession::Core::close(Stream& stream) {
  stream.closed = true;
  if (stream.source) stream.source->cancel();
  stream.changed.notify_all();
}

void ServerSession::Core::reset(Stream& stream, Code code) {
  if (stream.closed) return;
  transport.engine().reset(stream.id, code);
  transport.flush();
}

void ServerSession::Core::begin_answer(const StreamPtr& stream) {
  if (std::exchange(stream->answering, true)) return;
  const auto self = shared_from_this();
  const std::shared_ptr<std::size_t> count(self, &answering);
  // Shared, because functions are copied.
  const auto counted = std::make_shared<Answering>(count, share, stream);
  turns.add([self, stream, counted] {
    self->tasks.spawn("h2 request", self->answer(self, stream, counted));
  });
}

// Sends GOAWAY; the transport ends after the last stream.
void ServerSession::Core::leave() {
  if (std::exchange(leaving, true)) return;
  transport.engine().goaway(Code::no_error);
  transport.flush();
}

// Ends connections and requests that are too slow; returns when to check again.
MonoTime ServerSession::Core::look_after(MonoTime now) {
  if (transport.blocked_since() != MonoTime::max() &&
      now >= transport.blocked_since() + limits.send) {
    transport.end({Errc::timeout, "the peer does not read"});
    return now;
  }
  if (streams.empty()) {
    if (now >= idle_since + limits.idle) leave();
    return leaving ? now + limits.send : idle_since + limits.idle;
  }
  MonoTime next = now + limits.send;
  for (const auto& [id, stream] : streams) {
    if (stream->answering) continue;
    const MonoTime due = stream->begun_at + limits.receive;
    if (now >= due) reset(*stream, Code::cancel);
    if (now < due) next = std::min(next, due);
  }
  return next;
}

// Waits until at most `rest` bytes are unsent or the stream is closed. Returns false if the peer
// read nothing for too long.
asio::awaitable<bool> ServerSession::Core::taken(StreamPtr stream, std::size_t rest) {
  for (;;) {
    const std::size_t unsent = transport.engine().unsent(stream->id);
    if (stream->closed || unsent <= rest) co_return true;
    const bool changed =
        co_await stream->changed.wait_until(transport.clock().mono() + limits.send);
    if (!changed && transport.engine().unsent(stream->id) == unsent) co_return false;
  }
}

asio::awaitable<void> ServerSession::Core::send_stream(StreamPtr stream) {
  const std::shared_ptr<BodyStream> source = stream->source;
  while (!stream->closed) {
    const auto piece = co_await source->next();
    if (stream->closed) break;
    if (!piece || leaving) {  // A reset tells the client that the body is incomplete.
      reset(*stream, piece ? Code::cancel : Code::internal_error);
      break;
    }
    transport.engine().send(stream->id, *piece, piece->empty());
    transport.flush();
    if (piece->empty()) break;
    const bool in_time = co_await taken(stream, unsent_max);
    if (!in_time) reset(*stream, Code::cancel);
    if (!in_time) break;
  }
  source->cancel();
  stream->source.reset();
}

asio::awaitable<void> ServerSession::Core::send_pieces(StreamPtr stream, BodyPieces& pieces) {
  while (!stream->closed) {
    const auto piece = next_piece(pieces);
    if (!piece) co_return reset(*stream, Code::internal_error);
    transport.engine().send(stream->id, *piece, piece->empty());
    transport.flush();
    if (piece->empty()) break;
    const bool in_time = co_await taken(stream, unsent_max);
    if (!in_time) reset(*stream, Code::cancel);
    if (!in_time) break;
  }
}

asio::awaitable<void> ServerSession::Core::answer(
    [[maybe_unused]] std::shared_ptr<Core> self, StreamPtr stream,
    [[maybe_unused]] std::shared_ptr<Answering> counted) {
  Response response;
  if (stream->refusal) {
    (void)std::exchange(stream->request.body, {});  // Assigning "" would keep its memory.
    response = *std::move(stream->refusal);
  } else {
    response = co_await service.handler(stream->request);
  }
  if (response.stream) {
    // A stream can last for hours, and the request's body is not needed any more.
    (void)std::exchange(stream->request.body, {});
    release_bytes(*stream);
  } else if (share->take_answer(response.body_memory(), stream->bytes)) {
    stream->bytes += response.body_memory();
  } else {
    ++refusals.memory;
    response = service.problem(503, "too many bytes of answers are being sent already");
  }
  stream->source = response.stream;
  if (response.tunnel) {
    response.tunnel->close();
    reset(*stream, Code::http_1_1_required);
    co_return;
  }
  const bool bodiless = stream->request.method == Method::head || has_no_body(response.status);
  const bool last = bodiless || (!response.stream && response.body_size() == 0);
  const bool more = response.stream || response.pieces;
  if (!stream->closed) {
    transport.engine().respond(stream->id, response_fields(response), last);
    transport.engine().send(stream->id, response.body, !more);
    (void)std::exchange(response.body, {});  // The engine has a copy.
    transport.flush();
  }
  if (response.stream && !last) co_return co_await send_stream(stream);
  if (response.pieces && !last) co_await send_pieces(stream, *response.pieces);
  if (response.stream) response.stream->cancel();
  const bool in_time = co_await taken(stream, 0);
  if (!in_time) reset(*stream, Code::cancel);
  if (!stream->complete) reset(*stream, Code::no_error);  // The rest of the request is not needed.
}

ServerSession::ServerSession(const asio::any_io_executor& executor, loop::Tasks& tasks,
                             std::shared_ptr<net::Connection> connection,
                             const ServerLimits& limits, const Service& service,
                             std::shared_ptr<Share> share, Refusals& refusals)
    : core_(std::make_shared<Core>(executor, tasks, std::move(connection), limits, service,
                                   std::move(share), refusals)) {}

ServerSession::~ServerSession() { core_->transport.end({Errc::cancelled, "the server has ended"}); }

asio::awaitable<void> ServerSession::run() {
  const auto core = core_;
  core->tasks.spawn("h2 write", write_all(core));
  core->tasks.spawn("h2 look after", look_after(core));
  co_await core->transport.read_all();
}

void ServerSession::stop() {
  core_->leave();
  for (const auto& [id, stream] : core_->streams) {
    if (stream->source) stream->source->cancel();
  }
}

}  // namespace holdfast::http::h2
