#include "platform/http/h2/session.h"

#include <algorithm>
#include <unordered_map>

#include "platform/http/h2/fields.h"
#include "platform/http/h2/receive_window.h"
#include "platform/http/h2/transport_tasks.h"
#include "platform/http/stream_reset.h"
#include "platform/loop/timer.h"

namespace holdfast::http::h2 {

struct Session::Stream {
  explicit Stream(asio::any_io_executor executor) : changed(std::move(executor)) {}

  // Whether ask() has something to return.
  [[nodiscard]] bool ready() const { return error || ended || is_streaming(); }
  [[nodiscard]] bool is_streaming() const {
    return streamed && head.status >= 200 && head.status < 300;
  }
  void fail_with(Error why) {
    if (!ended && !error) error = std::move(why);
    changed.notify_all();
  }

  StreamId id = 0;
  bool streamed = false;
  MonoTime asked_at;
  Response head{.status = 0};
  std::size_t interim = 0;  // interim (1xx) responses so far
  AnswerSize size;
  std::string body;     // received and not yet taken
  bool ended = false;   // the response is complete
  bool closed = false;  // the engine has forgotten it
  std::optional<Error> error;
  RequestFailure failure = RequestFailure::final;
  loop::Event changed;
};

struct Session::Core final : Transport::Owner {
  Core(const asio::any_io_executor& where, std::shared_ptr<net::Connection> connection,
       SessionSettings given)
      : settings(std::move(given)),
        executor(where),
        transport(where, std::move(connection), Engine::Role::client,
                  EngineLimits{.header_bytes = settings.reader.header_bytes,
                               .stream_window = stream_window.bytes(),
                               .window = window.of_connection()},
                  *this, settings.traffic),
        attention(where),
        idle_since(transport.clock().mono()) {}

  void on_settings() override { settings.on_change(); }
  void on_pong() override { window.answered(transport.clock().mono()); }
  void on_headers(StreamId id, Block block) override;
  void on_data(StreamId id, std::string_view bytes) override;
  void on_end(StreamId id) override;
  void on_sent(StreamId) override {}
  void on_closed(StreamId id, Code code) override;
  void on_goaway(Code code) override;
  void on_received() override;
  void on_ended(const Error& why) override;
  void adjust_windows();

  Result<std::shared_ptr<Stream>> begin(const Request& request, bool streamed);
  void drop(Stream& stream);
  void refuse(Stream& stream, Error why);
  void forget(Stream& stream);
  void abandon();
  void suspect(const Stream& stream);
  void ping(MonoTime now);
  void end(Error why);
  MonoTime look_after(MonoTime now);

  SessionSettings settings;
  asio::any_io_executor executor;
  ReceiveWindow window;
  StreamWindow stream_window{window, settings.limits.stream_window};
  std::size_t body_bytes = 0;  // that arrived since the windows were last adjusted
  Transport transport;
  std::unordered_map<StreamId, std::shared_ptr<Stream>> streams;
  loop::Event attention;  // look_after() has something to look at
  MonoTime idle_since;    // when the first stream began, or the last one ended
  MonoTime pinged_at = MonoTime::max();
  bool leaving = false;
  bool suspected = false;
  bool has_abandoned = false;  // requests without an answer, which the server may not have received
};

void Session::Core::on_headers(StreamId id, Block block) {
  const auto at = streams.find(id);
  if (at == streams.end()) return;
  Stream& stream = *at->second;
  if (block.too_long) {
    return refuse(stream, {Errc::exhausted, "answer: its headers are over the limit"});
  }
  if (stream.head.status != 0) return;  // Trailers.
  Response head = to_response(std::move(block.fields));
  // nghttp2 accepts any three digits, even "051".
  if (head.status < 100) return refuse(stream, {Errc::corrupt, "answer: invalid status"});
  if (head.status < 200) {  // Interim: the final response follows.
    if (++stream.interim <= settings.reader.interim_answers) return;
    return refuse(stream, {Errc::exhausted, "answer: too many interim responses"});
  }
  stream.head = std::move(head);
  stream.changed.notify_all();
}

void Session::Core::on_data(StreamId id, std::string_view bytes) {
  body_bytes += bytes.size();
  const auto at = streams.find(id);
  if (at == streams.end()) return;
  Stream& stream = *at->second;
  stream.size.add(transport.clock().mono(), bytes.size());
  stream.body += bytes;
  if (stream.is_streaming()) return stream.changed.notify_all();
  if (stream.body.size() > settings.reader.body_bytes)
    return refuse(stream, {Errc::exhausted, "answer: its body is over the limit"});
  transport.engine().consume(id, bytes.size());
}

void Session::Core::on_end(StreamId id) {
  const auto at = streams.find(id);
  if (at == streams.end()) return;
  Stream& stream = *at->second;
  if (stream.head.status == 0) return refuse(stream, {Errc::corrupt, "answer: it has no headers"});
  stream.ended = true;
  stream.changed.notify_all();
}

void Session::Core::on_closed(StreamId id, Code code) {
  const auto at = streams.find(id);
  if (at == streams.end()) return;
  const std::shared_ptr<Stream> stream = at->second;
  stream->closed = true;
  if (code == Code::refused_stream) stream->failure = RequestFailure::unprocessed;
  const bool answered = stream->head.status != 0;
  if (code == Code::http_1_1_required && !answered) stream->failure = RequestFailure::wants_http1;
  stream->fail_with(reset_by_server(code, answered));
  forget(*stream);
}

void Session::Core::on_goaway(Code code) {
  leaving = true;
  if (code == Code::http_1_1_required) settings.on_http1();
  settings.on_change();
  attention.notify_all();
}

void Session::Core::on_received() {
  pinged_at = MonoTime::max();
  if (std::exchange(suspected, false)) settings.on_change();
  adjust_windows();
}

void Session::Core::adjust_windows() {
  const MonoTime now = transport.clock().mono();
  const bool measures = window.received(now, std::exchange(body_bytes, 0));
  if (measures) transport.engine().measure();
  transport.engine().set_window(window.of_connection());
  if (!stream_window.is_due(now)) return;
  const auto large = std::count_if(streams.begin(), streams.end(), [now](const auto& entry) {
    return entry.second->size.is_large(now);
  });
  if (stream_window.share(now, static_cast<std::size_t>(large))) {
    transport.engine().set_stream_window(stream_window.bytes());
  }
}

void Session::Core::on_ended(const Error& why) {
  const bool plain = why.code == Errc::corrupt || why.code == Errc::cancelled;
  const Errc word = plain ? why.code : Errc::unavailable;
  for (const auto& [id, stream] : std::exchange(streams, {})) {
    stream->closed = true;
    const bool unheard = word == Errc::unavailable && stream->head.status == 0;
    if (unheard) stream->failure = RequestFailure::broken;
    stream->fail_with({word, why.what, why.cause});
  }
  settings.on_change();
  attention.notify_all();
}

Result<std::shared_ptr<Session::Stream>> Session::Core::begin(const Request& request,
                                                              bool streamed) {
  if (transport.over()) return fail(Errc::unavailable, "the connection is over");
  TRY(const Headers fields, request_fields(request, settings.authority));
  TRY(const StreamId id, transport.engine().request(fields, request.body));
  auto stream = std::make_shared<Stream>(executor);
  stream->id = id;
  stream->streamed = streamed;
  stream->asked_at = transport.clock().mono();
  if (streams.empty()) {
    idle_since = stream->asked_at;
    attention.notify_all();
  }
  streams.emplace(id, stream);
  transport.flush();
  return stream;
}

// Cancels a stream whose response is not needed any more.
void Session::Core::drop(Stream& stream) {
  if (!std::exchange(stream.closed, true)) {
    transport.engine().reset(stream.id, Code::cancel);
    transport.flush();
    if (stream.head.status == 0) abandon();
  }
  forget(stream);
}

void Session::Core::refuse(Stream& stream, Error why) {
  stream.fail_with(std::move(why));
  drop(stream);
}

// `stream` may be gone afterwards, unless the caller holds it.
void Session::Core::forget(Stream& stream) {
  if (streams.erase(stream.id) == 0) return;
  if (streams.empty()) {
    idle_since = transport.clock().mono();
    attention.notify_all();
  }
  settings.on_change();
}

// A request was given up before its answer. It may still be on its way; if the server does not
// answer a PING, the connection ends before a link that was broken delivers the request.
void Session::Core::abandon() {
  has_abandoned = true;
  if (transport.over() || pinged_at != MonoTime::max()) return;
  ping(transport.clock().mono());
  attention.notify_all();
}

void Session::Core::suspect(const Stream& stream) {
  if (transport.over() || transport.received_at() > stream.asked_at) return;
  suspected = true;
  if (pinged_at == MonoTime::max()) ping(transport.clock().mono());
  settings.on_change();
  attention.notify_all();
}

void Session::Core::ping(MonoTime now) {
  transport.engine().ping();
  transport.flush();
  pinged_at = now;
}

// Ends the connection. No request that was given up reaches the server after that.
void Session::Core::end(Error why) {
  if (has_abandoned || !streams.empty()) {
    transport.abort(std::move(why));
  } else {
    transport.end(std::move(why));
  }
}

// Closes an idle or silent connection, or sends a PING; returns when to check again.
MonoTime Session::Core::look_after(MonoTime now) {
  const SessionLimits& limits = settings.limits;
  if (streams.empty() && (leaving || suspected || now >= idle_since + settings.idle)) {
    end({Errc::unavailable, "the idle connection was closed"});
    return now;
  }
  if (pinged_at != MonoTime::max()) {
    const bool dead = now >= pinged_at + limits.ping_timeout;
    if (dead) end({Errc::unavailable, "the server did not answer a PING"});
    return pinged_at + limits.ping_timeout;
  }
  if (streams.empty()) return idle_since + settings.idle;
  const MonoTime due = std::max(transport.received_at(), idle_since) + limits.ping_after;
  if (now < due) return due;
  ping(now);
  return now + limits.ping_timeout;
}

namespace {

template <class Core>
asio::awaitable<void> read_all(std::shared_ptr<Core> core) {
  co_await core->transport.read_all();
}

}  // namespace

// Cancels a stream unless its response was returned, also when the waiting coroutine is destroyed.
class Session::Asking {
 public:
  Asking(Core& core, std::shared_ptr<Stream> stream) : core_(core), stream_(std::move(stream)) {}
  ~Asking() {
    if (stream_) core_.drop(*stream_);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  Stream& operator*() const { return *stream_; }
  Stream* operator->() const { return stream_.get(); }
  std::shared_ptr<Stream> release() { return std::exchange(stream_, nullptr); }

 private:
  Core& core_;
  std::shared_ptr<Stream> stream_;
};

class Session::Body final : public BodyStream {
 public:
  Body(std::shared_ptr<Session> session, std::shared_ptr<Stream> stream)
      : session_(std::move(session)), stream_(std::move(stream)) {}
  ~Body() override { session_->core_->drop(*stream_); }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  asio::awaitable<Result<std::string>> next() override {
    const std::shared_ptr<Stream> stream = stream_;
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "stream cancelled");
      std::string piece = std::exchange(stream->body, {});
      if (!piece.empty()) {
        consume(piece.size());
        co_return piece;
      }
      if (stream->ended) co_return piece;
      if (stream->error) co_return fail(*stream->error);
      co_await stream->changed.wait();
    }
  }

  void cancel() override {
    cancelled_ = true;
    session_->core_->drop(*stream_);
    stream_->changed.notify_all();
  }

 private:
  void consume(std::size_t bytes) {
    if (stream_->closed) return;
    session_->core_->transport.engine().consume(stream_->id, bytes);
    session_->core_->transport.flush();
  }

  std::shared_ptr<Session> session_;
  std::shared_ptr<Stream> stream_;
  bool cancelled_ = false;
};

Session::Session(const asio::any_io_executor& executor, std::shared_ptr<net::Connection> connection,
                 SessionSettings settings)
    : core_(std::make_shared<Core>(executor, std::move(connection), std::move(settings))),
      tasks_(executor) {
  tasks_.detach();  // The tasks end with the transport, which the destructor closes.
  tasks_.spawn("h2 read", read_all(core_));
  tasks_.spawn("h2 write", write_all(core_));
  tasks_.spawn("h2 look after", h2::look_after(core_));
}

Session::~Session() {
  core_->settings.on_change = [] {};
  core_->settings.on_http1 = [] {};
  core_->end({Errc::cancelled, "the session has ended"});
}

Session::State Session::state() const {
  const bool ending = core_->leaving || core_->transport.over();
  if (ending || !core_->transport.engine().takes_requests()) return State::ending;
  if (core_->suspected) return State::suspect;
  const auto allowed = core_->transport.engine().streams_allowed();
  if (!allowed) return State::settling;
  const std::size_t most = std::min<std::size_t>(*allowed, core_->settings.limits.streams);
  return core_->streams.size() < most ? State::ready : State::full;
}

std::size_t Session::streams() const { return core_->streams.size(); }

asio::awaitable<Result<Response>> Session::ask(std::shared_ptr<Session> self,
                                               const Request& request, bool streamed,
                                               MonoTime deadline, RequestFailure& failure) {
  failure = RequestFailure::unprocessed;
  auto begun = self->core_->begin(request, streamed);
  if (!begun) co_return fail(begun.error());
  failure = RequestFailure::final;
  Asking stream(*self->core_, *std::move(begun));
  while (!stream->ready()) {
    if (co_await stream->changed.wait_until(deadline) || stream->ready()) continue;
    self->core_->suspect(*stream);
    co_return fail(Errc::timeout, "answer: deadline passed");
  }
  failure = stream->failure;
  // A body that breaks off at once is like one that breaks off later.
  if (stream->error && !stream->is_streaming()) co_return fail(*stream->error);
  Response response = std::move(stream->head);  // The status is copied: is_streaming() needs it.
  if (stream->is_streaming()) {
    response.stream = std::make_shared<Body>(self, stream.release());
  } else {
    response.body = std::move(stream->body);
  }
  co_return response;
}

}  // namespace holdfast::http::h2
