// The far end of a tunnel, without a network: sends back what it receives until the other side
// shuts down its direction.

#pragma once

#include <algorithm>
#include <string>

#include "platform/loop/event.h"
#include "platform/net/connection.h"

namespace holdfast::test {

namespace asio = boost::asio;

class Echo : public net::Connection {
 public:
  explicit Echo(asio::any_io_executor executor) : changed_(std::move(executor)) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    while (said_.empty() && !ended_ && !closed_) co_await changed_.wait();
    if (closed_) co_return fail(Errc::cancelled, "closed");
    const std::size_t count = said_.copy(into.data(), into.size());
    said_.erase(0, count);
    co_return count;
  }
  asio::awaitable<Status> write(std::string_view bytes) override {
    Status done;
    if (closed_) done = fail(Errc::cancelled, "closed");
    if (done) hear(bytes);
    changed_.notify_all();
    co_return done;
  }
  void shutdown_write() override {
    say(last_words);
    ended_ = true;
  }
  void expires_at(MonoTime) override {}
  void close() override {
    closed_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool seems_open() override { return !closed_; }
  [[nodiscard]] const net::Peer& peer() const override { return peer_; }
  [[nodiscard]] std::string_view protocol() const override { return {}; }

  [[nodiscard]] bool closed() const { return closed_; }
  std::string last_words;  // sent when the other side has shut down

 protected:
  // Handles received bytes; subclasses override it.
  virtual void hear(std::string_view bytes) { say(bytes); }
  void say(std::string_view bytes) {
    said_ += bytes;
    changed_.notify_all();
  }
  void end() { ended_ = true; }

 private:
  loop::Event changed_;
  net::Peer peer_;
  std::string said_;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace holdfast::test
