#include "platform/http/spdy/session.h"

#include <array>
#include <boost/asio/this_coro.hpp>
#include <map>
#include <utility>

#include "platform/loop/clock.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/net/duplex.h"

namespace holdfast::http::spdy {
namespace {

using ConnectionPtr = std::shared_ptr<net::Connection>;

constexpr std::size_t receive_bytes = 16UL * 1024;

struct OpenStream {
  ConnectionPtr near;  // our end of its bytes
  bool client_ended = false;
  bool we_ended = false;
};

struct Session {
  Session(const asio::any_io_executor& executor, ConnectionPtr its_connection, OnStream its_handler,
          const SessionLimits& its_limits)
      : connection(std::move(its_connection)),
        on_stream(std::move(its_handler)),
        limits(its_limits),
        reader(its_limits.frames),
        written(executor) {}

  ConnectionPtr connection;
  OnStream on_stream;
  SessionLimits limits;
  FrameReader reader;
  HeaderEncoder encoder;
  std::map<std::uint32_t, OpenStream> streams;
  std::uint32_t last_id = 0;
  loop::Event written;
  bool is_writing = false;
  std::optional<MonoTime> stuck_since = {};  // it waits for the reader of a stream
};

using SessionPtr = std::shared_ptr<Session>;

// Ends the turn of a writer, also if its task is cancelled.
class WritingTurn {
 public:
  explicit WritingTurn(Session& session) : session_(session) { session_.is_writing = true; }
  ~WritingTurn() {
    session_.is_writing = false;
    session_.written.notify_all();
  }
  WritingTurn(const WritingTurn&) = delete;
  WritingTurn& operator=(const WritingTurn&) = delete;

 private:
  Session& session_;
};

asio::awaitable<Status> send(SessionPtr session, std::string frame) {
  while (session->is_writing) co_await session->written.wait();
  const WritingTurn turn(*session);
  co_return co_await session->connection->write(frame);
}

void drop_if_over(Session& session, std::uint32_t id) {
  const auto found = session.streams.find(id);
  if (found == session.streams.end()) return;
  if (found->second.client_ended && found->second.we_ended) session.streams.erase(found);
}

// Sends what the stream's user writes.
asio::awaitable<void> pump_out(SessionPtr session, std::uint32_t id, ConnectionPtr near) {
  std::array<char, 8192> block{};
  for (;;) {
    const auto count = co_await near->read_some(block);
    if (!count) co_return;  // It was reset.
    std::string frame = data_frame(id, std::string_view(block.data(), *count), *count == 0);
    const Status sent = co_await send(session, std::move(frame));
    if (!sent || *count == 0) break;
  }
  const auto found = session->streams.find(id);
  if (found != session->streams.end()) found->second.we_ended = true;
  drop_if_over(*session, id);
}

asio::awaitable<Status> open_stream(SessionPtr session, const Frame& frame, loop::Tasks& tasks) {
  const auto executor = co_await asio::this_coro::executor;
  if (frame.stream % 2 == 0 || frame.stream <= session->last_id) {
    co_return fail(Errc::corrupt, "SPDY: the number of a stream is not a new one of a client");
  }
  session->last_id = frame.stream;
  net::Duplex pair = net::make_duplex(executor, session->limits.stream_bytes);
  const bool has_room = session->streams.size() < session->limits.streams;
  if (!has_room || !session->on_stream({frame.headers, std::move(pair.far)})) {
    std::string refusal = rst_frame(frame.stream, has_room ? protocol_error : refused_stream);
    co_return co_await send(session, std::move(refusal));
  }
  if (frame.fin) pair.near->shutdown_write();
  session->streams[frame.stream] = {.near = pair.near, .client_ended = frame.fin};
  std::string reply = syn_reply_frame(frame.stream, {}, session->encoder);
  const Status sent = co_await send(session, std::move(reply));
  if (sent) tasks.spawn("SPDY stream", pump_out(session, frame.stream, pair.near));
  co_return sent;
}

// Bytes of a client for a stream; without a reader they are dropped.
asio::awaitable<void> take_data(SessionPtr session, const Frame& frame) {
  const auto found = session->streams.find(frame.stream);
  if (found == session->streams.end() || found->second.client_ended) co_return;
  const ConnectionPtr near = found->second.near;
  session->stuck_since = loop::clock_of(co_await asio::this_coro::executor).mono();
  if (!frame.data.empty()) (void)co_await near->write(frame.data);
  session->stuck_since.reset();
  if (!frame.fin) co_return;
  near->shutdown_write();
  const auto still = session->streams.find(frame.stream);
  if (still != session->streams.end()) still->second.client_ended = true;
  drop_if_over(*session, frame.stream);
}

void reset_stream(Session& session, std::uint32_t id) {
  const auto found = session.streams.find(id);
  if (found == session.streams.end()) return;
  found->second.near->close();
  session.streams.erase(found);
}

asio::awaitable<Status> handle(SessionPtr session, const Frame& frame, loop::Tasks& tasks) {
  Status good;
  if (frame.kind == Kind::syn_stream) co_return co_await open_stream(session, frame, tasks);
  if (frame.kind == Kind::data) co_await take_data(session, frame);
  if (frame.kind == Kind::rst_stream) reset_stream(*session, frame.stream);
  if (frame.kind == Kind::goaway) co_return fail(Errc::unavailable, "SPDY: the client goes away");
  // Odd numbers are the client's own pings.
  if (frame.kind == Kind::ping && frame.stream % 2 == 1) {
    std::string answer = ping_frame(frame.stream);
    co_return co_await send(session, std::move(answer));
  }
  co_return good;
}

asio::awaitable<Status> receive_frames(SessionPtr session, loop::Tasks& tasks) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  std::array<char, receive_bytes> block{};
  Status good;
  while (good) {
    session->connection->expires_at(clock.mono() + session->limits.idle);
    CO_TRY(const std::size_t count, co_await session->connection->read_some(block));
    if (count == 0) break;
    good = session->reader.put(std::string_view(block.data(), count));
    for (auto frame = session->reader.take(); good && frame; frame = session->reader.take()) {
      good = co_await handle(session, *frame, tasks);
    }
  }
  co_return good;
}

// Ends the session when it waits for too long: while it waits, it cannot see that its client is
// gone.
asio::awaitable<void> watch_for_stuck(SessionPtr session) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  for (;;) {
    co_await loop::sleep_until(clock.mono() + session->limits.stuck / 4);
    if (!session->stuck_since) continue;
    if (clock.mono() < *session->stuck_since + session->limits.stuck) continue;
    session->connection->close();
    for (auto& [id, stream] : session->streams) stream.near->close();
  }
}

}  // namespace

asio::awaitable<Status> serve(ConnectionPtr connection, OnStream on_stream, SessionLimits limits) {
  const auto executor = co_await asio::this_coro::executor;
  auto session = std::make_shared<Session>(executor, connection, std::move(on_stream), limits);
  loop::Tasks tasks(executor);
  tasks.spawn("SPDY watch", watch_for_stuck(session));
  const Status ended = co_await receive_frames(session, tasks);
  connection->close();
  for (auto& [id, stream] : session->streams) stream.near->close();
  tasks.cancel();
  co_await tasks.join();
  co_return ended;
}

}  // namespace holdfast::http::spdy
