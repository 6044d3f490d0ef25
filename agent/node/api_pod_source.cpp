#include "agent/node/api_pod_source.h"
#include "platform/loop/randomness.h"

namespace holdfast::agent::node {
namespace {

// The edge agent waits up to 2 s for the cloud before it answers from its cache.
constexpr Duration pods_request_limit = std::chrono::seconds(10);

}  // namespace

ApiPodSource::ApiPodSource(asio::any_io_executor executor, std::string node_name,
                           std::string selector, ApiClient& client, const Clock& clock)
    : node_name_(std::move(node_name)),
      selector_(std::move(selector)),
      client_(client),
      clock_(clock),
      random_(loop::make_random(executor)),
      changed_(executor),
      pods_([this] {
        configs_.follow(pods_.references());
        changed_.notify_all();
      }),
      configs_(executor, *this, clock_, random_, [this] { changed_.notify_all(); }),
      tasks_(std::move(executor)) {}

void ApiPodSource::start() {
  ListWatchTarget target{.path = "/api/v1/pods",
                         .label_selector = selector_,
                         .field_selector = "spec.nodeName=" + node_name_};
  target.reflector.backoff = local_backoff();
  tasks_.spawn("watch pods", run_list_watch(std::move(target), *this, pods_, clock_, random_));
}

asio::awaitable<void> ApiPodSource::stop() {
  tasks_.cancel();
  co_await tasks_.join();
  co_await configs_.stop();
}

asio::awaitable<Result<http::Response>> ApiPodSource::send(ApiRequest request, bool streamed) {
  return client_.send(std::move(request), streamed, clock_.mono() + pods_request_limit);
}

}  // namespace holdfast::agent::node
