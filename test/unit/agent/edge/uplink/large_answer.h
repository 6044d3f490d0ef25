// An agent in virtual time whose API server answers with large lists, at whatever speed.

#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/route/answer.h"
#include "platform/http/client.h"
#include "platform/loop/timer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::large_answer {

using sync::autonomy::LinkState;

inline constexpr std::size_t kibibyte = 1UL << 10;
inline constexpr std::size_t mebibyte = 1UL << 20;
inline const std::string secrets = "/api/v1/secrets";
inline const std::string maps = "/api/v1/namespaces/a/configmaps";

// A list of `bytes` bytes, in pieces of 16 KiB, that begins when `before` has ended. It stops for
// ever after `stops_after` bytes. `changed` belongs to all lists.
class LongList final : public http::BodyStream {
 public:
  LongList(std::shared_ptr<loop::Event> changed, std::size_t bytes, std::size_t stops_after,
           std::shared_ptr<LongList> before)
      : left_(bytes),
        stops_after_(stops_after),
        before_(std::move(before)),
        changed_(std::move(changed)) {}

  asio::awaitable<Result<std::string>> next() override {
    while ((sent >= stops_after_ || (before_ && !before_->is_over())) && !cancelled_) {
      co_await changed_->wait();
    }
    if (pause > Duration::zero()) {
      const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
      co_await loop::sleep_until(clock.mono() + pause);
    }
    if (cancelled_) co_return fail(Errc::cancelled, "list");
    std::string piece(std::min(left_, 16 * kibibyte), 'x');
    const bool is_last = piece.size() == left_;
    if (sent == 0) piece.replace(0, begin.size(), begin);
    if (is_last && !piece.empty()) piece.replace(piece.size() - end.size(), end.size(), end);
    left_ -= piece.size();
    sent += piece.size();
    if (left_ == 0) changed_->notify_all();
    co_return piece;
  }
  void cancel() override {
    cancelled_ = true;
    changed_->notify_all();
  }

  static constexpr std::string_view begin =
      R"({"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"300"},"items":[)"
      R"({"metadata":{"name":"s","namespace":"a","uid":"u","resourceVersion":"200"},"data":{"a":")";
  static constexpr std::string_view end = R"("}}]})";
  std::size_t sent = 0;
  Duration pause{};  // before each piece

 private:
  [[nodiscard]] bool is_over() const { return left_ == 0 || cancelled_; }

  std::size_t left_;
  std::size_t stops_after_;
  std::shared_ptr<LongList> before_;
  bool cancelled_ = false;
  std::shared_ptr<loop::Event> changed_;
};

// What a client has got.
struct Got {
  int status = 0;
  std::size_t bytes = 0;
  Duration first{};  // until its first byte
  Duration whole{};  // until the end
  std::string error;
};

struct LargeFixture : UplinkFixture {
  explicit LargeFixture(const UplinkFixtureOptions& made = {}) : UplinkFixture(made) {
    EXPECT_TRUE(until(LinkState::connected));
    time.run(30s);
  }

  // The API server answers lists of `path` with a list of so many bytes from now on.
  void serve(const std::string& path, std::size_t bytes,
             std::size_t stops_after = std::numeric_limits<std::size_t>::max()) {
    servers[0]->special = [this, path, bytes, stops_after](
                              const http::Request& request) -> std::optional<http::Response> {
      const bool is_watch = request.query().find("watch=") != std::string_view::npos;
      if (request.path() != path || is_watch) return std::nullopt;
      http::Response response = json_response(200, "");
      list =
          std::make_shared<LongList>(lists_changed, bytes, stops_after, in_turn ? list : nullptr);
      list->pause = pause;
      response.stream = list;
      ++lists;
      return response;
    };
  }

  // Every byte from and to the API server takes its time.
  void narrow(std::int64_t bytes_per_s) {
    stop();
    time.network().set_link({"127.0.0.1", servers[0]->port()}, {.bytes_per_s = bytes_per_s});
    start();
    EXPECT_TRUE(until(LinkState::connected));
    time.run(30s);
  }

  // Asks as a client that waits for `rest` between two pieces that it reads.
  Got ask_for(const std::string& target, const std::string& agent, Duration rest = {}) {
    Got got;
    time.complete(read(target, agent, rest, got));
    return got;
  }

  asio::awaitable<void> read(std::string target, std::string agent, Duration rest, Got& got) {
    http::Client client(http::Endpoint{read_endpoints(options.data_dir).value().proxy});
    const MonoTime began = time.clock().mono();
    http::Request request{.target = std::move(target), .headers = {{"User-Agent", agent + "/v1"}}};
    auto response = co_await client.open(std::move(request), began + 2min);
    if (!response) {
      got.error = response.error().what;
      co_return;
    }
    got.status = response->status;
    got.bytes = response->body.size();
    while (response->stream) {
      const auto piece = co_await response->stream->next();
      if (!piece) got.error = piece.error().what;
      if (!piece || piece->empty()) break;
      if (got.bytes == 0) got.first = time.clock().mono() - began;
      got.bytes += piece->size();
      if (list) furthest_ahead = std::max(furthest_ahead, list->sent - got.bytes);
      if (rest > Duration::zero()) co_await loop::sleep_until(time.clock().mono() + rest);
    }
    got.whole = time.clock().mono() - began;
  }

  std::shared_ptr<loop::Event> lists_changed = std::make_shared<loop::Event>(time.executor());
  std::shared_ptr<LongList> list;  // the newest one
  int lists = 0;                   // that were served
  Duration pause{};                // before each of their pieces
  bool in_turn = false;            // each list waits until the one before has been sent
  std::size_t furthest_ahead = 0;  // the most bytes that were sent and not read yet
};

}  // namespace holdfast::agent::uplink::large_answer
