#include "agent/edge/cache/first_list.h"

#include "sync/autonomy/read_source.h"

namespace holdfast::agent {
namespace {

class ForwardedBody final : public http::BodyStream {
 public:
  ForwardedBody(std::shared_ptr<http::BodyStream> inner, std::unique_ptr<ForwardedList> list)
      : inner_(std::move(inner)), list_(std::move(list)) {}

  asio::awaitable<Result<std::string>> next() override {
    auto piece = co_await inner_->next();
    if (!piece || piece->empty()) list_.reset();
    co_return piece;
  }
  void cancel() override {
    inner_->cancel();
    list_.reset();
  }

 private:
  std::shared_ptr<http::BodyStream> inner_;
  std::unique_ptr<ForwardedList> list_;
};

}  // namespace

bool is_arriving(const LocalScope& scope, const UplinkBytes& bytes, MonoTime since, MonoTime now) {
  const bool is_delayed = bytes.delays(sync::autonomy::UplinkClass::relist);
  return sync::autonomy::is_worth_waiting(scope.listing_since().has_value(), is_delayed,
                                          now - since);
}

void last_until_read(std::unique_ptr<ForwardedList> list, http::Response& response) {
  if (!list || !response.stream) return;
  response.stream = std::make_shared<ForwardedBody>(std::move(response.stream), std::move(list));
}

}  // namespace holdfast::agent
