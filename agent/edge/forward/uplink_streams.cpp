#include "agent/edge/forward/uplink_streams.h"

#include <utility>

#include "platform/http/inflate.h"

namespace holdfast::agent {

class UplinkStreams::Guarded final : public http::BodyStream {
 public:
  Guarded(const http::Response& response, std::size_t server, Counter counter)
      : inner_(response.stream), server_(server), wire_(response), counter_(std::move(counter)) {}

  asio::awaitable<Result<std::string>> next() override {
    auto piece = co_await inner_->next();
    counter_(wire_.arrived(piece ? piece->size() : 0));
    if (!piece && severed_)
      co_return fail(Errc::unavailable, "the stream's server was taken out of rotation");
    co_return piece;
  }
  void cancel() override { inner_->cancel(); }

  [[nodiscard]] std::size_t server() const { return server_; }
  void sever() {
    severed_ = true;
    inner_->cancel();
  }

 private:
  std::shared_ptr<http::BodyStream> inner_;
  std::size_t server_;
  http::WireBytes wire_;
  Counter counter_;
  bool severed_ = false;
};

void UplinkStreams::add(http::Response& response, std::size_t server, Counter counter) {
  std::erase_if(open_, [](const auto& each) { return each.expired(); });
  auto guarded = std::make_shared<Guarded>(response, server, std::move(counter));
  open_.push_back(guarded);
  response.stream = std::move(guarded);
}

void UplinkStreams::sever(std::size_t server) {
  for (const auto& each : std::exchange(open_, {})) {
    const auto stream = each.lock();
    if (!stream) continue;
    if (stream->server() == server) {
      stream->sever();
    } else {
      open_.push_back(stream);
    }
  }
}

}  // namespace holdfast::agent
