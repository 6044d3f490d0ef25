#include "platform/http/h2/engine.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "platform/check.h"

namespace holdfast::http::h2 {
namespace {

constexpr std::size_t output_bytes = 16UL * 1024;  // about one TLS record
constexpr std::size_t field_overhead = 32;         // RFC 9113, 6.5.2
// The contents of the PING of measure(). Those of ping() are zero.
constexpr std::array<std::uint8_t, 8> measuring = {'m', 'e', 'a', 's', 'u', 'r', 'e', 0};

// A body that is being sent.
struct Outgoing {
  std::string bytes;
  std::size_t sent = 0;
  bool last = false;     // the body ends with `bytes`
  bool waiting = false;  // nghttp2 was told that there is no data yet

  [[nodiscard]] std::size_t unsent() const { return bytes.size() - sent; }
};

std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

nghttp2_nv pair_of(const Header& field) {
  const auto bytes = [](const std::string& text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> pairs_of(const Headers& fields) {
  std::vector<nghttp2_nv> pairs;
  pairs.reserve(fields.size());
  for (const Header& field : fields) pairs.push_back(pair_of(field));
  return pairs;
}

}  // namespace

std::string to_string(Code code) {
  const auto number = static_cast<std::uint32_t>(code);
  const std::string_view name = nghttp2_http2_strerror(number);
  return name == "unknown" ? std::to_string(number) : std::string(name);
}

struct Engine::Inner {
  Inner(Role role, const EngineLimits& bounds, Events& listener);
  ~Inner() { nghttp2_session_del(session); }
  Inner(const Inner&) = delete;
  Inner& operator=(const Inner&) = delete;

  void on_frame(const nghttp2_frame& frame);
  void send_stream_window();
  void on_field(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  ssize_t give(StreamId id, std::uint8_t* into, std::size_t size, std::uint32_t& flags);

  EngineLimits limits;
  Events& events;
  nghttp2_session* session = nullptr;
  std::unordered_map<StreamId, Outgoing> outgoing;
  std::unordered_set<StreamId> ended_by_us;  // open streams for which reset() was called
  Block block;  // being received; blocks of a connection never interleave
  std::size_t block_bytes = 0;
  bool settled = false;
  // The peer has not acknowledged our last settings. No others are sent until then: nghttp2 keeps
  // them, and a peer may never acknowledge any.
  bool awaits_acknowledgement = true;
  std::uint32_t stream_window = limits.stream_window;  // that is to hold next
  bool peer_violated_protocol = false;
};

namespace {

Engine::Inner& inner_of(void* user) { return *static_cast<Engine::Inner*>(user); }

int on_begin_headers(nghttp2_session*, const nghttp2_frame*, void* user) {
  inner_of(user).block = {};
  inner_of(user).block_bytes = 0;
  return 0;
}

int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t, void* user) {
  inner_of(user).on_field(*frame, view(name, name_size), view(value, value_size));
  return 0;
}

int on_frame_recv(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  inner_of(user).on_frame(*frame);
  return 0;
}

int on_data_chunk(nghttp2_session* session, std::uint8_t, StreamId id, const std::uint8_t* data,
                  std::size_t size, void* user) {
  nghttp2_session_consume_connection(session, size);
  inner_of(user).events.on_data(id, view(data, size));
  return 0;
}

int on_stream_close(nghttp2_session*, StreamId id, std::uint32_t code, void* user) {
  Engine::Inner& inner = inner_of(user);
  inner.outgoing.erase(id);
  inner.ended_by_us.erase(id);
  inner.events.on_closed(id, Code{code});
  return 0;
}

bool is_open(nghttp2_session* session, StreamId id) {
  return nghttp2_session_find_stream(session, id) != nullptr;
}

int on_frame_send(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  Engine::Inner& inner = inner_of(user);
  const StreamId id = frame->hd.stream_id;
  const bool bad = frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR;
  if (bad) inner.peer_violated_protocol = true;
  const bool provoked = frame->hd.type == NGHTTP2_RST_STREAM && is_open(session, id) &&
                        !inner.ended_by_us.contains(id);
  if (provoked) inner.events.on_reset(id);
  return 0;
}

ssize_t read_body(nghttp2_session*, StreamId id, std::uint8_t* into, std::size_t size,
                  std::uint32_t* flags, nghttp2_data_source*, void* user) {
  return inner_of(user).give(id, into, size, *flags);
}

nghttp2_data_provider provider() {
  nghttp2_data_provider made{};
  made.read_callback = read_body;
  return made;
}

nghttp2_session* make_session(Engine::Role role, void* user) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* options = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  CHECK(nghttp2_option_new(&options) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
  nghttp2_option_set_no_auto_window_update(options, 1);
  nghttp2_option_set_no_closed_streams(options, 1);
  // Its limit of resets reads the kernel's clock. Servers count them by their loop's clock instead.
  constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  nghttp2_option_set_stream_reset_rate_limit(options, unlimited, unlimited);
  nghttp2_session* session = nullptr;
  const auto make =
      role == Engine::Role::client ? &nghttp2_session_client_new2 : &nghttp2_session_server_new2;
  CHECK(make(&session, callbacks, user, options) == 0);
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(callbacks);
  return session;
}

void submit_settings(Engine::Role role, const EngineLimits& limits, nghttp2_session* session) {
  const bool client = role == Engine::Role::client;
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, client ? 0 : limits.streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes)},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
  };
  const std::size_t count = client ? 4 : 3;  // only clients may send ENABLE_PUSH
  CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, count) == 0);
}

void set_connection_window(nghttp2_session* session, std::uint32_t bytes) {
  CHECK(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                              static_cast<std::int32_t>(bytes)) == 0);
}

}  // namespace

Engine::Inner::Inner(Role role, const EngineLimits& bounds, Events& listener)
    : limits(bounds), events(listener), session(make_session(role, this)) {
  submit_settings(role, bounds, session);
  set_connection_window(session, bounds.window);
}

void Engine::Inner::on_field(const nghttp2_frame& frame, std::string_view name,
                             std::string_view value) {
  if (frame.hd.type != NGHTTP2_HEADERS) return;
  block_bytes += name.size() + value.size() + field_overhead;
  if (block_bytes > limits.header_bytes) block.too_long = true;
  if (!block.too_long) block.fields.add(std::string(name), std::string(value));
}

void Engine::Inner::send_stream_window() {
  if (awaits_acknowledgement || stream_window == limits.stream_window) return;
  limits.stream_window = stream_window;
  awaits_acknowledgement = true;
  const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window};
  CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &setting, 1) == 0);
}

void Engine::Inner::on_frame(const nghttp2_frame& frame) {
  const StreamId id = frame.hd.stream_id;
  const bool last = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  const bool ack = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      events.on_headers(id, std::exchange(block, {}));
      break;
    case NGHTTP2_DATA:
      break;
    case NGHTTP2_SETTINGS:
      if (ack) {
        awaits_acknowledgement = false;
        return send_stream_window();
      }
      settled = true;
      events.on_settings();
      return;
    case NGHTTP2_PING:
      if (ack && std::ranges::equal(frame.ping.opaque_data, measuring)) events.on_pong();
      return;
    case NGHTTP2_GOAWAY:
      events.on_goaway(Code{frame.goaway.error_code});
      return;
    case NGHTTP2_RST_STREAM:
      events.on_reset(id);
      return;
    default:
      return;
  }
  if (last) events.on_end(id);
}

// Copies the next bytes of a body into nghttp2's buffer.
ssize_t Engine::Inner::give(StreamId id, std::uint8_t* into, std::size_t size,
                            std::uint32_t& flags) {
  const auto at = outgoing.find(id);
  if (at == outgoing.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  Outgoing& body = at->second;
  const std::size_t count = std::min(size, body.unsent());
  if (count == 0 && !body.last) {
    body.waiting = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  std::memcpy(into, body.bytes.data() + body.sent, count);
  body.sent += count;
  if (body.unsent() == 0) {
    body.bytes.clear();
    body.sent = 0;
    if (body.last) flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  if (count > 0) events.on_sent(id);
  return static_cast<ssize_t>(count);
}

Engine::Engine(Role role, const EngineLimits& limits, Events& events)
    : inner_(std::make_unique<Inner>(role, limits, events)) {}

Engine::~Engine() = default;

Status Engine::receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      inner_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const std::size_t queued = nghttp2_session_get_outbound_queue_size(inner_->session);
  if (queued > inner_->limits.queued_frames) {
    return fail(Errc::corrupt, "HTTP/2: too many frames wait for a peer that does not read");
  }
  if (used >= 0) return {};
  return fail(Errc::corrupt, std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(used)));
}

std::string Engine::take_output() {
  std::string output;
  while (output.size() < output_bytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(inner_->session, &bytes);
    // Its only errors are a lack of memory and failed callbacks; ours do not fail.
    CHECK(count >= 0);
    if (count == 0) break;
    output += view(bytes, static_cast<std::size_t>(count));
  }
  return output;
}

bool Engine::finished() const {
  return nghttp2_session_want_read(inner_->session) == 0 &&
         nghttp2_session_want_write(inner_->session) == 0;
}

bool Engine::peer_violated_protocol() const { return inner_->peer_violated_protocol; }

std::optional<std::uint32_t> Engine::streams_allowed() const {
  if (!inner_->settled) return std::nullopt;
  return nghttp2_session_get_remote_settings(inner_->session,
                                             NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

bool Engine::takes_requests() const {
  return nghttp2_session_check_request_allowed(inner_->session) != 0;
}

Result<StreamId> Engine::request(const Headers& fields, std::string body) {
  const std::vector<nghttp2_nv> pairs = pairs_of(fields);
  const nghttp2_data_provider source = provider();
  const StreamId id = nghttp2_submit_request(inner_->session, nullptr, pairs.data(), pairs.size(),
                                             body.empty() ? nullptr : &source, nullptr);
  if (id < 0) return fail(Errc::exhausted, std::string("HTTP/2: ") + nghttp2_strerror(id));
  if (!body.empty()) inner_->outgoing[id] = Outgoing{.bytes = std::move(body), .last = true};
  return id;
}

void Engine::respond(StreamId id, const Headers& fields, bool last) {
  const std::vector<nghttp2_nv> pairs = pairs_of(fields);
  const nghttp2_data_provider source = provider();
  const int failed = nghttp2_submit_response(inner_->session, id, pairs.data(), pairs.size(),
                                             last ? nullptr : &source);
  if (failed == 0 && !last) inner_->outgoing[id] = Outgoing{};
}

void Engine::send(StreamId id, std::string_view bytes, bool last) {
  const auto at = inner_->outgoing.find(id);
  if (at == inner_->outgoing.end()) return;
  Outgoing& body = at->second;
  CHECK(!body.last);
  body.bytes += bytes;
  body.last = last;
  if (std::exchange(body.waiting, false)) nghttp2_session_resume_data(inner_->session, id);
}

std::size_t Engine::unsent(StreamId id) const {
  const auto at = inner_->outgoing.find(id);
  return at == inner_->outgoing.end() ? 0 : at->second.unsent();
}

void Engine::reset(StreamId id, Code code) {
  inner_->outgoing.erase(id);
  if (is_open(inner_->session, id)) inner_->ended_by_us.insert(id);
  (void)nghttp2_submit_rst_stream(inner_->session, NGHTTP2_FLAG_NONE, id,
                                  static_cast<std::uint32_t>(code));
}

void Engine::consume(StreamId id, std::size_t bytes) {
  // Fails for a stream that has ended, whose window no longer matters.
  (void)nghttp2_session_consume_stream(inner_->session, id, bytes);
}

void Engine::ping() { (void)nghttp2_submit_ping(inner_->session, NGHTTP2_FLAG_NONE, nullptr); }

void Engine::measure() {
  (void)nghttp2_submit_ping(inner_->session, NGHTTP2_FLAG_NONE, measuring.data());
}

void Engine::set_window(std::uint32_t bytes) { set_connection_window(inner_->session, bytes); }

void Engine::set_stream_window(std::uint32_t bytes) {
  inner_->stream_window = bytes;
  inner_->send_stream_window();
}

void Engine::goaway(Code code) {
  const StreamId seen = nghttp2_session_get_last_proc_stream_id(inner_->session);
  (void)nghttp2_submit_goaway(inner_->session, NGHTTP2_FLAG_NONE, seen,
                              static_cast<std::uint32_t>(code), nullptr, 0);
}

void Engine::terminate(Code code) {
  (void)nghttp2_session_terminate_session(inner_->session, static_cast<std::uint32_t>(code));
}

}  // namespace holdfast::http::h2
