// HTTP/2 frames from a hostile peer, as client and as server, under several limits: no crash, and
// bounded memory for data that waits, however the bytes are split. The first byte selects the role
// and the limits.

#include <algorithm>
#include <unordered_map>

#include "platform/check.h"
#include "platform/http/grammar.h"
#include "platform/http/h2/engine.h"
#include "platform/http/h2/fields.h"
#include "test/fuzz/pieces.h"

namespace holdfast::http::h2 {
namespace {

constexpr EngineLimits many_limits[] = {
    {},
    {.header_bytes = 256, .streams = 2, .stream_window = 128, .queued_frames = 20},
    {.header_bytes = 4096, .streams = 10, .stream_window = 1000, .queued_frames = 100},
};

// A peer may fill a stream's default window before it has received our settings (RFC 9113, 6.9.2).
constexpr std::uint32_t default_window = 65535;

// As few as this, so that short inputs reach what follows.
constexpr int resets_max = 3;

// Behaves like the engine's owner: keeps bodies, returns their bytes to the window, answers, and
// resets some streams.
class Owner final : public Events {
 public:
  Owner(Engine::Role role, const EngineLimits& limits)
      : role_(role), limits_(limits), engine_(role, limits, *this) {
    if (role == Engine::Role::server) return;
    for (const char* target : {"/a", "/b"}) {
      const Request request{.method = Method::put, .target = target, .body = "body"};
      (void)engine_.request(request_fields(request, "x").value(), request.body);
    }
  }

  // Returns whether to continue.
  bool put(std::string_view bytes) {
    const bool good = engine_.receive(bytes).has_value();
    if (!good) return false;
    output_ += engine_.take_output().size();
    CHECK(bodies_.size() <= limits_.streams + 2);
    for (const auto& [id, size] : bodies_) CHECK(size <= window());
    return !engine_.finished();
  }

  void on_settings() override {}
  void on_headers(StreamId id, Block block) override {
    CHECK(id > 0);
    std::size_t size = 0;
    for (const Header& field : block.fields) {
      size += field.name.size() + field.value.size() + 32;
    }
    CHECK(size <= limits_.header_bytes);
    bodies_.try_emplace(id, 0);
    if (role_ == Engine::Role::client) return check_answer(id, std::move(block));
    const auto request = to_request(block.fields);
    if (!request) return;
    CHECK(is_acceptable_target(request->target) && is_host(request->headers.get("host")));
    CHECK(request_fields(*request, "x").has_value());
    if (request->method == Method::remove) return engine_.reset(id, Code::cancel);
    engine_.respond(id, {{":status", "200"}}, false);
    engine_.send(id, "answer", request->method != Method::get);
  }
  void on_data(StreamId id, std::string_view bytes) override {
    std::size_t& kept = bodies_[id];
    kept += bytes.size();
    CHECK(kept <= window());
    if (id % 4 != 1) return;  // the other streams are read slowly
    engine_.consume(id, kept);
    kept = 0;
  }
  void on_end(StreamId id) override { CHECK(heads_.contains(id) || role_ == Engine::Role::server); }
  void on_sent(StreamId) override {}
  void on_closed(StreamId id, Code) override { bodies_.erase(id); }
  void on_reset(StreamId) override {
    if (++resets_ > resets_max) engine_.terminate(Code::enhance_your_calm);
  }
  void on_goaway(Code) override {}

 private:
  [[nodiscard]] std::size_t window() const {
    return std::max(limits_.stream_window, default_window);
  }
  void check_answer(StreamId id, Block block) {
    CHECK(id == 1 || id == 3);
    if (block.too_long) heads_.insert({id, 0});  // its fields, including the status, are left out
    const Response head = to_response(std::move(block.fields));
    CHECK(!head.headers.has("connection") && !head.headers.has("transfer-encoding"));
    if (head.status >= 200) heads_.insert({id, head.status});
    if (head.status >= 100 || block.too_long) return;
    heads_.insert({id, 0});  // refused, as a session does
    engine_.reset(id, Code::cancel);
  }

  Engine::Role role_;
  EngineLimits limits_;
  Engine engine_;
  std::unordered_map<StreamId, std::size_t> bodies_;
  std::unordered_map<StreamId, int> heads_;
  std::size_t output_ = 0;
  int resets_ = 0;
};

void check_bytes(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto mode = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const auto role = (mode & 1U) != 0 ? Engine::Role::client : Engine::Role::server;
  const EngineLimits& limits = many_limits[(mode >> 1U) % std::size(many_limits)];
  // Only a server receives the connection preface; fuzzing it is not useful.
  constexpr std::string_view greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  Owner whole(role, limits);
  Owner pieced(role, limits);
  if (role == Engine::Role::server) {
    CHECK(whole.put(greeting));
    CHECK(pieced.put(greeting));
  }
  (void)whole.put(bytes);
  for (const std::string_view piece : test::pieces(bytes)) {
    if (!pieced.put(piece)) break;
  }
}

}  // namespace
}  // namespace holdfast::http::h2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::http::h2::check_bytes(holdfast::test::text_of(data, size));
  return 0;
}
