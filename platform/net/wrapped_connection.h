// A connection that forwards every call to another one. Base class for connections that change one
// of its functions.

#pragma once

#include <memory>
#include <utility>

#include "platform/net/connection.h"

namespace holdfast::net {

class WrappedConnection : public Connection {
 public:
  explicit WrappedConnection(std::shared_ptr<Connection> inner) : inner_(std::move(inner)) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    return inner_->read_some(into);
  }
  asio::awaitable<Status> write(std::string_view bytes) override { return inner_->write(bytes); }
  void shutdown_write() override { inner_->shutdown_write(); }
  void expires_at(MonoTime deadline) override { inner_->expires_at(deadline); }
  void close() override { inner_->close(); }
  void reset() override { inner_->reset(); }
  [[nodiscard]] bool seems_open() override { return inner_->seems_open(); }
  [[nodiscard]] const Peer& peer() const override { return inner_->peer(); }
  void confirm_owner() override { inner_->confirm_owner(); }
  [[nodiscard]] std::string_view protocol() const override { return inner_->protocol(); }

 protected:
  [[nodiscard]] Connection& inner() { return *inner_; }

 private:
  std::shared_ptr<Connection> inner_;
};

}  // namespace holdfast::net
