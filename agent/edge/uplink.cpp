#include "agent/edge/uplink.h"

#include "platform/log.h"
#include "sync/api/status.h"

namespace holdfast::agent {
namespace {

sync::Evidence evidence_of(const Result<http::Response>& outcome) {
  if (!outcome) return sync::Evidence::failed;
  const bool overloaded = outcome->status == 429 || outcome->status == 503;
  return overloaded ? sync::Evidence::overloaded : sync::Evidence::answered;
}

}  // namespace

Uplink::Uplink(asio::any_io_executor executor, const sync::LinkConfig& config, ApiClient& client,
               const Clock& clock, Random& random)
    : client_(client),
      clock_(clock),
      link_(config, random, clock.mono()),
      changed_(std::move(executor)) {}

asio::awaitable<Result<http::Response>> Uplink::forward(http::Request request, bool streamed,
                                                        Duration limit) {
  const bool own_credentials = !request.headers.has("authorization");
  if (own_credentials && !request.peer.common_name.empty()) {
    co_return fail(Errc::denied, "the node's credentials are not for callers with certificates");
  }
  const MonoTime began = clock_.mono();
  auto outcome = co_await client_.forward(std::move(request), streamed, began + limit);
  co_return judge(began, own_credentials, std::move(outcome));
}

asio::awaitable<Result<http::Response>> Uplink::send(ApiRequest request, bool streamed,
                                                     Duration limit) {
  const bool own_credentials = request.authorization.empty();
  const MonoTime began = clock_.mono();
  auto outcome = co_await client_.send(std::move(request), streamed, began + limit);
  co_return judge(began, own_credentials, std::move(outcome));
}

asio::awaitable<Result<std::string>> Uplink::call(ApiRequest request, Duration limit) {
  CO_TRY(http::Response response, co_await send(std::move(request), false, limit));
  if (response.status >= 200 && response.status < 300) co_return std::move(response.body);
  co_return fail(sync::to_error(response.status, response.body));
}

Result<http::Response> Uplink::judge(MonoTime began, bool own_credentials,
                                     Result<http::Response> outcome) {
  if (!outcome && outcome.error().code == Errc::cancelled) return outcome;
  if (outcome && outcome->headers.get("content-type").starts_with("text/html")) {
    outcome = fail(Errc::unavailable, "answered with a web page: not an API server");
  }
  if (outcome && observer_ != nullptr) observer_->answered(*outcome);
  if (outcome && own_credentials && outcome->status == 401) {
    // There, and of no use to the node until it has other credentials: the cache answers meanwhile.
    if (observer_ != nullptr) observer_->unauthorized();
    outcome = fail(Errc::denied, "the API server does not accept the node's credentials");
  }
  const std::string reason =
      outcome ? "answered " + std::to_string(outcome->status) : outcome.error().what;
  if (link_.hear(clock_.mono(), began, evidence_of(outcome), reason)) announce();
  return outcome;
}

void Uplink::rejoined() {
  link_.rejoined(clock_.mono());
  announce();
}

void Uplink::rejoin_failed(std::string_view reason) {
  link_.rejoin_failed(clock_.mono(), reason);
  announce();
}

void Uplink::announce() {
  log_info("link", {{"state", to_string(link_.state())}, {"reason", link_.reason()}});
  // What was open before a fault may hang for ever after it.
  if (link_.state() != sync::LinkState::connected) client_.forget_connections();
  changed_.notify_all();
}

}  // namespace holdfast::agent
