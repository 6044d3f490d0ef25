#include "agent/lab/cluster/watch_objects.h"

#include "platform/loop/randomness.h"

namespace holdfast::agent::lab::cluster {

namespace {

class DirectSource final : public ListWatchSource {
 public:
  DirectSource(ApiClient& client, const Clock& clock) : client_(client), clock_(clock) {}
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    return client_.send(std::move(request), streamed, clock_.mono() + std::chrono::seconds(5));
  }

 private:
  ApiClient& client_;
  const Clock& clock_;
};

}  // namespace

asio::awaitable<void> watch_target(ApiClient& client, const Clock& clock, ListWatchTarget target,
                                   std::unique_ptr<ListWatchSink> sink) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Random random = loop::make_random(executor);
  DirectSource source(client, clock);
  co_await run_list_watch(std::move(target), source, *sink, clock, random);
}

}  // namespace holdfast::agent::lab::cluster
