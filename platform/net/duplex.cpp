#include "platform/net/duplex.h"

#include <algorithm>
#include <utility>

#include "platform/loop/event.h"

namespace holdfast::net {
namespace {

// What flows in one direction.
struct OneWay {
  OneWay(const asio::any_io_executor& executor, std::size_t bytes_max)
      : capacity(bytes_max), changed(executor) {}

  std::string bytes;
  std::size_t capacity;
  bool ended = false;      // the writer writes nothing more
  bool abandoned = false;  // nobody reads any more
  loop::Event changed;
};

using OneWayPtr = std::shared_ptr<OneWay>;

class DuplexEnd final : public Connection {
 public:
  DuplexEnd(OneWayPtr in, OneWayPtr out) : in_(std::move(in)), out_(std::move(out)) {}
  ~DuplexEnd() override { close(); }
  DuplexEnd(const DuplexEnd&) = delete;
  DuplexEnd& operator=(const DuplexEnd&) = delete;

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    const OneWayPtr in = in_;
    for (;;) {
      if (closed_) co_return fail(Errc::cancelled, "read: the connection was closed");
      if (!in->bytes.empty()) {
        const std::size_t count = in->bytes.copy(into.data(), into.size());
        in->bytes.erase(0, count);
        in->changed.notify_all();
        co_return count;
      }
      if (in->ended) co_return std::size_t{0};
      const bool in_time = co_await in->changed.wait_until(deadline_);
      if (!in_time) co_return fail(Errc::timeout, "read: deadline passed");
    }
  }

  asio::awaitable<Status> write(std::string_view bytes) override {
    const OneWayPtr out = out_;
    while (!bytes.empty()) {
      if (closed_) co_return fail(Errc::cancelled, "write: the connection was closed");
      if (out->abandoned) co_return fail(Errc::unavailable, "write: nobody reads any more");
      const std::size_t room = out->capacity - std::min(out->capacity, out->bytes.size());
      if (room > 0) {
        const std::string_view part = bytes.substr(0, room);
        out->bytes += part;
        bytes.remove_prefix(part.size());
        out->changed.notify_all();
        continue;
      }
      const bool in_time = co_await out->changed.wait_until(deadline_);
      if (!in_time) co_return fail(Errc::timeout, "write: deadline passed");
    }
    Status done;
    co_return done;
  }

  void shutdown_write() override {
    out_->ended = true;
    out_->changed.notify_all();
  }

  // Wakes what waits, so that it waits for the new deadline.
  void expires_at(MonoTime deadline) override {
    deadline_ = deadline;
    in_->changed.notify_all();
    out_->changed.notify_all();
  }

  void close() override {
    closed_ = true;
    in_->abandoned = true;
    in_->bytes.clear();
    in_->changed.notify_all();
    shutdown_write();
  }

  [[nodiscard]] bool seems_open() override { return !closed_ && !in_->ended && in_->bytes.empty(); }
  [[nodiscard]] const Peer& peer() const override { return peer_; }
  [[nodiscard]] std::string_view protocol() const override { return {}; }

 private:
  OneWayPtr in_;
  OneWayPtr out_;
  Peer peer_;
  MonoTime deadline_ = MonoTime::max();
  bool closed_ = false;
};

}  // namespace

Duplex make_duplex(const asio::any_io_executor& executor, std::size_t capacity) {
  const auto there = std::make_shared<OneWay>(executor, std::max<std::size_t>(capacity, 1));
  const auto back = std::make_shared<OneWay>(executor, std::max<std::size_t>(capacity, 1));
  return {std::make_shared<DuplexEnd>(back, there), std::make_shared<DuplexEnd>(there, back)};
}

}  // namespace holdfast::net
