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
               const Clock& clock, Random& random, const sync::RotaConfig& rota)
    : client_(client),
      clock_(clock),
      link_(config, random, clock.mono()),
      servers_(rota, client.access().servers().size(), random, clock.mono()),
      changed_(executor),
      servers_changed_(std::move(executor)) {}

std::string Uplink::server_name(std::size_t server) const {
  const std::vector<ServerAddress> all = client_.access().servers();
  return all[server % all.size()].at.text();
}

std::optional<std::size_t> Uplink::try_another(http::Method method, std::size_t server,
                                               std::size_t tries) {
  const bool repeatable = method != http::Method::post && method != http::Method::patch;
  const bool servers_fault = servers_.at(server).health == sync::ServerHealth::failed;
  if (repeatable && servers_fault && tries < servers_.size()) {
    const std::size_t other = servers_.next(server);
    if (other != server) return other;
  }
  if (servers_.size() > 1) {
    link_.doubt(clock_.mono());
    changed_.notify_all();
  }
  return std::nullopt;
}

asio::awaitable<Result<http::Response>> Uplink::forward(http::Request request, bool streamed,
                                                        Duration limit) {
  const bool own_credentials = !request.headers.has("authorization");
  if (own_credentials && !request.peer.common_name.empty()) {
    co_return fail(Errc::denied, "the node's credentials are not for callers with certificates");
  }
  const http::Method method = request.method;
  const MonoTime deadline = clock_.mono() + limit;
  std::size_t server = servers_.next();
  for (std::size_t tries = 1;; ++tries) {
    const Sent sent{clock_.mono(), server, own_credentials};
    // Half of the time that is left is kept for another server.
    const bool last = servers_.size() == tries;
    const MonoTime until = last ? deadline : sent.began + (deadline - sent.began) / 2;
    http::Request copy;
    if (last) {
      copy = std::move(request);
    } else {
      copy = request;
    }
    auto outcome = co_await client_.forward(std::move(copy), streamed, until, server);
    outcome = judge(sent, std::move(outcome));
    if (outcome) co_return outcome;
    const auto other = try_another(method, server, tries);
    if (!other) co_return outcome;
    server = *other;
  }
}

asio::awaitable<Result<http::Response>> Uplink::send(ApiRequest request, bool streamed,
                                                     Duration limit) {
  std::size_t server = servers_.next();
  for (std::size_t tries = 1;; ++tries) {
    const Sent sent{clock_.mono(), server, request.authorization.empty()};
    ApiRequest copy = request;
    auto outcome = co_await client_.send(std::move(copy), streamed, sent.began + limit, server);
    outcome = judge(sent, std::move(outcome));
    if (outcome) co_return outcome;
    const auto other = try_another(request.method, server, tries);
    if (!other) co_return outcome;
    server = *other;
  }
}

asio::awaitable<Result<std::string>> Uplink::call(ApiRequest request, Duration limit) {
  CO_TRY(http::Response response, co_await send(std::move(request), false, limit));
  if (response.status >= 200 && response.status < 300) co_return std::move(response.body);
  co_return fail(sync::to_error(response.status, response.body));
}

asio::awaitable<void> Uplink::keep_servers(std::string target, Duration limit) {
  for (;;) {
    const auto due = servers_.take_probe(clock_.mono());
    if (!due) {
      (void)co_await servers_changed_.wait_until(servers_.probe_due());
      continue;
    }
    const Sent sent{clock_.mono(), *due, true};
    ApiRequest probe{.target = target};
    auto outcome = co_await client_.send(std::move(probe), false, sent.began + limit, *due);
    (void)judge(sent, std::move(outcome));
  }
}

Result<http::Response> Uplink::judge(const Sent& sent, Result<http::Response> outcome) {
  if (!outcome && outcome.error().code == Errc::cancelled) return outcome;
  if (outcome && outcome->headers.get("content-type").starts_with("text/html")) {
    outcome = fail(Errc::unavailable, "answered with a web page: not an API server");
  }
  if (outcome && observer_ != nullptr) observer_->answered(*outcome);
  std::string reason =
      outcome ? "answered " + std::to_string(outcome->status) : outcome.error().what;
  if (!client_.held()) hear_server(sent, evidence_of(outcome), reason);
  const bool others = !outcome && !client_.held() && servers_.any_in_rotation();
  if (outcome && sent.own_credentials && outcome->status == 401) {
    // There, and of no use to the node until it has other credentials: the cache answers meanwhile.
    if (observer_ != nullptr) observer_->unauthorized();
    reason = "the API server does not accept the node's credentials";
    outcome = fail(Errc::denied, reason);
  }
  // As long as another server may answer, the link is not judged by this one.
  const MonoTime now = clock_.mono();
  if (!others && link_.hear(now, sent.began, evidence_of(outcome), reason)) announce();
  if (outcome && outcome->stream) {
    outcome->stream = streams_.add(std::move(outcome->stream), sent.server);
  }
  return outcome;
}

void Uplink::hear_server(const Sent& sent, sync::Evidence evidence, const std::string& reason) {
  if (evidence == sync::Evidence::answered) client_.prefer(sent.server);
  if (!servers_.hear(clock_.mono(), sent.began, sent.server, evidence, reason)) return;
  servers_changed_.notify_all();
  if (servers_.size() == 1) return;  // Then it is the link's affair alone.
  const sync::ServerHealth health = servers_.at(sent.server).health;
  log_info(
      "API server",
      {{"server", server_name(sent.server)}, {"health", to_string(health)}, {"reason", reason}});
  if (health != sync::ServerHealth::failed) return;
  client_.forget_connections(sent.server);
  streams_.sever(sent.server);
}

bool Uplink::has_another_way(const Error& error) const {
  const bool servers_fault = error.code == Errc::unavailable || error.code == Errc::timeout;
  return servers_fault && servers_.size() > 1 && servers_.any_in_rotation();
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
