#include "agent/edge/forward/uplink_streams.h"

#include <utility>

namespace holdfast::agent {

class UplinkStreams::Guarded final : public http::BodyStream {
 public:
  Guarded(std::shared_ptr<http::BodyStream> inner, std::size_t server, Counter counter)
      : inner_(std::move(inner)), server_(server), counter_(std::move(counter)) {}

  asio::awaitable<Result<std::string>> next() override {
    auto piece = co_await inner_->next();
    if (piece) counter_(piece->size());
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
  Counter counter_;
  bool severed_ = false;
};

std::shared_ptr<http::BodyStream> UplinkStreams::add(std::shared_ptr<http::BodyStream> stream,
                                                     std::size_t server, Counter counter) {
  std::erase_if(open_, [](const auto& each) { return each.expired(); });
  auto guarded = std::make_shared<Guarded>(std::move(stream), server, std::move(counter));
  open_.push_back(guarded);
  return guarded;
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
