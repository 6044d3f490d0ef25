#include "agent/edge/forward/uplink.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "agent/client/limited_client.h"
#include "agent/client/origin.h"
#include "agent/edge/route/answer.h"
#include "platform/http/inflate.h"
#include "platform/log.h"
#include "sync/autonomy/read_source.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/status.h"

namespace holdfast::agent {
namespace {

// AnswerReader limits the bytes that are collected.
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

sync::autonomy::UplinkClass class_of(http::Method method, std::string_view target, bool own) {
  return sync::autonomy::class_of(http::to_string(method), target.substr(0, target.find('?')), own);
}

// `limit`: of the request.
std::optional<PassOn> pass_on(Delivery delivery, Duration limit) {
  if (delivery == Delivery::moving) return PassOn{};
  if (delivery != Delivery::whole_if_it_fits) return std::nullopt;
  return PassOn{.bytes = no_limit, .time = sync::autonomy::whole_answer_time(limit)};
}

Result<std::string> body_of(Result<http::Response> answer) {
  if (!answer) return fail(answer.error());
  if (answer->status >= 200 && answer->status < 300) return std::move(answer->body);
  return fail(sync::wire::to_error(answer->status, answer->body));
}

}  // namespace

Uplink::Uplink(asio::any_io_executor executor, const UplinkSettings& settings, ApiClient& client,
               const Clock& clock, Random& random)
    : client_(client),
      clock_(clock),
      machine_(settings.machine, client.access().servers().size(), random, clock.mono()),
      answers_(settings.answers),
      bytes_(std::make_shared<UplinkBytes>(executor, settings.rates, clock)),
      changed_(executor),
      servers_changed_(std::move(executor)) {}

std::string Uplink::server_name(std::size_t server) const {
  const std::vector<ServerAddress> all = client_.access().servers();
  return all[server % all.size()].at.text();
}

std::optional<std::size_t> Uplink::next_server(bool repeatable, std::size_t server,
                                               std::size_t tries) {
  // Another server is only asked if this one is known to have failed.
  const auto other = repeatable ? machine_.next_server(server, tries) : std::nullopt;
  // If no server is left to ask, a probe must show whether the link is down.
  if (!other && servers().size() > 1) probe_now();
  return other;
}

asio::awaitable<Result<ReadAnswer>> Uplink::forward_to(const SentRequest& sent,
                                                       http::Request request) {
  // Every answer with a body is read as a stream, so that AnswerReader can limit it.
  const bool as_stream =
      sent.delivery == Delivery::streamed || request.method != http::Method::head;
  auto outcome =
      co_await client_.forward(std::move(request), as_stream, sent.deadline(), sent.attempt.server);
  if (outcome && sent.delivery != Delivery::streamed)
    outcome = http::inflated(*std::move(outcome), {.body_bytes = no_limit});
  co_return co_await read(sent, std::move(outcome));
}

asio::awaitable<Result<ReadAnswer>> Uplink::send_to(const SentRequest& sent, ApiRequest request) {
  auto outcome =
      co_await client_.send(std::move(request), true, sent.deadline(), sent.attempt.server);
  co_return co_await read(sent, std::move(outcome));
}

asio::awaitable<Result<ReadAnswer>> Uplink::read(const SentRequest& sent,
                                                 Result<http::Response> outcome) {
  if (!outcome) co_return fail(outcome.error());
  bytes_->received(sent.traffic, agent::size_of(*outcome));
  if (sent.delivery == Delivery::streamed) {
    ReadAnswer stream{.response = *std::move(outcome)};
    co_return stream;
  }
  // Bytes are counted when they arrive, because an answer that breaks off has cost them, too.
  ReadRules rules{
      .whose = sent.attempt.has_own_credentials ? Requester::own : Requester::foreign,
      .deadline = sent.deadline(),
      .count = [bytes = bytes_, server = sent.attempt.server, traffic = sent.traffic](
                   std::size_t size) { bytes->received_from(server, traffic, size); },
      .received = [bytes = bytes_,
                   server = sent.attempt.server] { return bytes->received_from(server); }};
  if (sent.may_be_large) rules.silence = sent.attempt.limit;
  const bool may_move = sent.delivery == Delivery::whole_if_it_moves;
  if (may_move) rules.longest = sync::autonomy::whole_answer_time_max;
  const bool success = outcome->status >= 200 && outcome->status < 300;
  // Passed on in chunks, a body without a marked end would look whole wherever it was cut off.
  if (success && !outcome->ends_with_connection)
    rules.pass_on = pass_on(sent.delivery, sent.attempt.limit);
  auto answer = co_await answers_.read(*std::move(outcome), std::move(rules));
  // A body that takes long or is broken says nothing about the link; a probe shows whether that is
  // down.
  const bool late = answer && answer->body == ReadAnswer::Body::late;
  if (late && sent.attempt.is_heartbeat) co_return fail(Errc::timeout, std::move(answer->problem));
  if (late || (answer && answer->body == ReadAnswer::Body::broken)) probe_now();
  co_return answer;
}

bool Uplink::compresses(bool client_asks) const {
  if (client_.access().disable_compression) return false;
  return client_asks || path(client_.preferred()).is_slow();
}

Duration Uplink::limit_with_fallback(const Deadlines& deadlines) const {
  return std::min(std::max(deadlines.read, heartbeat_limit()), deadlines.write);
}

asio::awaitable<Result<http::Response>> Uplink::forward(http::Request request, Delivery delivery,
                                                        Duration limit, bool timeout_is_evidence) {
  const bool own_credentials = !request.headers.has("authorization");
  if (own_credentials && !request.peer.common_name.empty()) {
    co_return fail(Errc::denied, "the node's credentials are not for callers with certificates");
  }
  const http::Method method = request.method;
  const std::string credentials(request.headers.get("authorization"));
  const bool repeatable = http::may_repeat(method, request.repeatable);
  const MonoTime deadline = clock_.mono() + limit;
  const sync::autonomy::UplinkClass traffic = class_of(method, request.target, false);
  const auto reservation = co_await UplinkBytes::wait_for_budget(bytes_, traffic, deadline);
  if (!reservation) co_return fail(reservation.error());
  std::size_t server = machine_.next_server();
  for (std::size_t tries = 1;; ++tries) {
    bytes_->sent(traffic, agent::size_of(request));
    // Half of the remaining time is kept for another server.
    const bool last = servers().size() == tries;
    const MonoTime began = clock_.mono();
    const MonoTime until = last ? deadline : began + (deadline - began) / 2;
    const SentRequest sent{.attempt = {.began = began,
                                       .server = server,
                                       .limit = until - began,
                                       .has_own_credentials = own_credentials,
                                       .timeout_is_evidence = timeout_is_evidence},
                           .target = request.target,
                           .traffic = traffic,
                           .may_be_large = delivery == Delivery::whole_if_it_moves,
                           .delivery = delivery,
                           .received_before = bytes_->received_from(server)};
    http::Request copy = last ? std::exchange(request, {}) : request;
    auto read = co_await forward_to(sent, std::move(copy));
    read = record_read(sent, std::move(read));
    if (read) owners_.record(credentials, sent.target, read->response.status);
    const bool too_large = read && read->body == ReadAnswer::Body::too_large;
    if (too_large) co_return status_problem(507, read->problem);
    if (read) co_return ReadAnswer::finish(*std::move(read));
    const auto other = next_server(repeatable, server, tries);
    if (!other) co_return fail(read.error());
    server = *other;
  }
}

asio::awaitable<Result<http::Response>> Uplink::send(ApiRequest request, bool streamed,
                                                     Duration limit,
                                                     TimeoutMeaning timeout_meaning) {
  return send_within(limit, std::move(request), streamed, timeout_meaning);
}

asio::awaitable<Result<http::Response>> Uplink::send_within(std::optional<Duration> limit,
                                                            ApiRequest request, bool streamed,
                                                            TimeoutMeaning timeout_meaning) {
  const bool repeatable = http::may_repeat(request.method, request.repeatable);
  const sync::autonomy::UplinkClass traffic = class_of(request.method, request.target, true);
  const auto reservation = co_await UplinkBytes::wait_for_budget(bytes_, traffic, MonoTime::max());
  if (!reservation) co_return fail(reservation.error());
  std::size_t server = machine_.next_server();
  for (std::size_t tries = 1;; ++tries) {
    const bool own_credentials = request.authorization.empty();
    const bool of_link = timeout_meaning == TimeoutMeaning::of_link;
    const SentRequest sent{.attempt = {.began = clock_.mono(),
                                       .server = server,
                                       .limit = limit.value_or(path(server).limit()),
                                       .is_heartbeat = !limit,
                                       .has_own_credentials = own_credentials,
                                       .timeout_is_evidence = of_link},
                           .target = request.target,
                           .traffic = traffic,
                           .may_be_large = request.may_be_large,
                           .delivery = streamed ? Delivery::streamed : Delivery::whole,
                           .received_before = bytes_->received_from(server)};
    bytes_->sent(traffic, size_of(request));
    ApiRequest copy = request;
    auto read = co_await send_to(sent, std::move(copy));
    read = record_read(sent, std::move(read));
    if (read) owners_.record(request.authorization, sent.target, read->response.status);
    if (read) co_return ReadAnswer::finish(*std::move(read));
    const auto other = next_server(repeatable, server, tries);
    if (!other) co_return fail(read.error());
    server = *other;
  }
}

asio::awaitable<Result<std::string>> Uplink::call(ApiRequest request, Duration limit) {
  co_return body_of(co_await send(std::move(request), false, limit));
}

asio::awaitable<Result<std::string>> Uplink::heartbeat(ApiRequest request) {
  const std::optional<Duration> measured;
  co_return body_of(
      co_await send_within(measured, std::move(request), false, TimeoutMeaning::of_link));
}

Result<ReadAnswer> Uplink::record_read(const SentRequest& sent, Result<ReadAnswer> outcome) {
  if (!outcome) return fail(record_outcome(sent, fail(outcome.error())).error());
  auto response = record_outcome(sent, std::move(outcome->response));
  if (!response) return fail(response.error());
  outcome->response = *std::move(response);
  return outcome;
}

Result<http::Response> Uplink::record_outcome(const SentRequest& sent,
                                              Result<http::Response> outcome) {
  const bool answered = outcome.has_value();
  const std::size_t server = sent.attempt.server;
  if (answered) bytes_->expect(sent.traffic, agent::size_of(*outcome));
  outcome = check_origin(client_.access(), sent.target, std::move(outcome));
  if (outcome && observer_ != nullptr) observer_->answered(*outcome);
  sync::autonomy::uplink::Ended ended{
      .request = sent.attempt,
      .is_from_stranger = answered && !outcome,
      .was_held = client_.held(),
      .received_meanwhile = bytes_->received_from(server) - sent.received_before};
  ended.request.is_for_document = sync::autonomy::is_for_document(sent.target);
  if (outcome) {
    ended.status = outcome->status;
    ended.retry_after = pause_of(*outcome, {.pause_min = {}}).value_or(Duration::zero());
  } else {
    ended.error = outcome.error();
  }
  take(ended);
  if (sync::autonomy::uplink::is_rejected(ended)) {
    return fail(Errc::denied, std::string(sync::autonomy::uplink::rejected));
  }
  // Bytes of a stream are charged as they arrive, and it ends if its server fails.
  if (outcome && outcome->stream) {
    const auto count = [bytes = bytes_, server, traffic = sent.traffic](std::size_t size) {
      bytes->received_from(server, traffic, size);
    };
    streams_.add(*outcome, server, count);
  }
  return outcome;
}

std::string Uplink::describe_outage() const {
  return sync::autonomy::describe(outage(), {clock_.mono(), clock_.wall()});
}

void Uplink::take(const sync::autonomy::uplink::Input& input) {
  for (const sync::autonomy::uplink::Effect& effect : machine_.step(clock_.mono(), input)) {
    std::visit([this](const auto& one) { perform(one); }, effect);
  }
}

void Uplink::perform(const sync::autonomy::uplink::WakeLink&) {
  log_debug("link", {{"state", to_string(link().state())}, {"reason", link().reason()}});
  changed_.notify_all();
}

void Uplink::perform(const sync::autonomy::uplink::WakeServers&) { servers_changed_.notify_all(); }

void Uplink::perform(const sync::autonomy::uplink::Prefer& prefer) {
  client_.prefer(prefer.server);
}

void Uplink::perform(const sync::autonomy::uplink::Sever& sever) {
  client_.forget_connections(sever.server);
  streams_.sever(sever.server);
}

void Uplink::perform(const sync::autonomy::uplink::ForgetConnections&) {
  client_.forget_connections();
}

void Uplink::perform(const sync::autonomy::uplink::RenewCredentials&) {
  if (observer_ != nullptr) observer_->unauthorized();
}

void Uplink::perform(const sync::autonomy::uplink::ReportHealth& report) {
  const sync::autonomy::ServerPool::Server& server = servers().at(report.server);
  log_info("API server", {{"server", server_name(report.server)},
                          {"health", to_string(server.health)},
                          {"reason", server.reason}});
}

void Uplink::perform(const sync::autonomy::uplink::ReportTime& report) {
  const sync::autonomy::PathTime& time = path(report.server);
  log_info(time.answers_late()
               ? "the API server answers late: the cache answers what it can at once"
               : "the API server answers in time again",
           {{"server", server_name(report.server)},
            {"renewals_take", format_duration(*time.smoothed())}});
}

}  // namespace holdfast::agent
