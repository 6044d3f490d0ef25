#include "agent/client/limited_client.h"

#include <algorithm>
#include <cmath>

#include "agent/client/origin.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/status.h"

namespace holdfast::agent {
namespace {

bool is_about_a_budget(const http::Response& response) {
  const auto status = sync::wire::parse_status(response.body);
  return status && sync::wire::budget_forbids(*status);
}

// A 429 is a server that sheds load, unless a PodDisruptionBudget refuses an eviction.
bool is_healthy(const http::Response& response) {
  if (response.status == 429) return is_about_a_budget(response);
  return response.status < 500;
}

// Authorizers say "User "u" cannot list resource "pods" in API group ..."; a namespace that ends, a
// quota or an admission plug-in says something else.
bool lacks_right(const http::Response& response) {
  return response.status == 403 && response.body.find(" cannot ") != std::string::npos &&
         response.body.find(" resource ") != std::string::npos;
}

}  // namespace

void add_options(config::Options& options, RequestLimits& limits) {
  options.add(
      "kube-api-qps", limits.qps,
      "requests per second to the API server, except those of leader election (upstream: 20, with "
      "which marking 300 lost nodes takes a minute; Retry-After answers are obeyed)");
  options.add("kube-api-burst", limits.burst,
              "how many of these requests may be sent at once after an idle time (upstream: 30)");
}

Status check(const RequestLimits& limits) {
  if (!std::isfinite(limits.qps) || limits.qps < 0.001) {
    return fail(Errc::invalid, "--kube-api-qps must be above zero");
  }
  if (limits.burst < 1) return fail(Errc::invalid, "--kube-api-burst must be above zero");
  return {};
}

std::optional<Duration> pause_of(const http::Response& response, const RetryPolicy& policy) {
  if (response.status != 429 && response.status != 503) return std::nullopt;
  const auto asked = parse_int<std::int64_t>(response.headers.get("Retry-After"));
  if (!asked || *asked < 0) return std::nullopt;
  if (response.status == 429 && is_about_a_budget(response)) return std::nullopt;
  const auto most = std::chrono::duration_cast<std::chrono::seconds>(policy.pause_max).count();
  const Duration pause = std::chrono::seconds(std::min(*asked, static_cast<std::int64_t>(most)));
  return std::max(pause, policy.pause_min);
}

asio::awaitable<void> LimitedClient::take_turn() {
  // A Retry-After that arrives while this request waits delays it further.
  MonoTime turn = bucket_.take(clock_.mono());
  while (turn > clock_.mono()) {
    co_await loop::sleep_until(turn);
    turn = std::max(turn, bucket_.held_until());
  }
}

asio::awaitable<Result<http::Response>> LimitedClient::send_now(ApiRequest request, bool streamed,
                                                                MonoTime deadline) {
  const http::Method method = request.method;
  const std::string target = request.target;
  auto response = co_await client_.send(std::move(request), streamed, deadline);
  response = check_origin(client_.access(), target, std::move(response));
  observer_({.method = method,
             .target = target,
             .status = response ? response->status : 0,
             .is_healthy = response && is_healthy(*response),
             .lacks_right = response && lacks_right(*response)});
  if (!response) co_return response;
  if (const auto pause = pause_of(*response, limits_.retry)) {
    log_warn("API server asks for a pause", {{"duration", format_duration(*pause)}});
    bucket_.hold(clock_.mono() + *pause);
  }
  co_return response;
}

asio::awaitable<Result<std::string>> LimitedClient::call(ApiRequest request, MonoTime deadline) {
  const Duration limit = deadline - clock_.mono();
  for (int attempt = 1;; ++attempt) {
    co_await take_turn();
    const MonoTime until = co_await permit_.wait();
    ApiRequest copy = request;
    const MonoTime end = std::min(clock_.mono() + limit, until);
    auto response = co_await send_now(std::move(copy), false, end);
    if (!response) co_return fail(response.error());
    const bool final = attempt == limits_.retry.tries || !pause_of(*response, limits_.retry);
    if (!final) continue;
    Result<std::string> body = body_of(request, *std::move(response));
    co_return body;
  }
}

asio::awaitable<Result<http::Response>> LimitedClient::send(ApiRequest request, bool streamed,
                                                            Duration limit) {
  co_await take_turn();
  const MonoTime deadline = clock_.mono() + limit;
  co_return co_await send_now(std::move(request), streamed, deadline);
}

}  // namespace holdfast::agent
