#include "agent/edge/forward/uplink.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "agent/client/limited_client.h"
#include "agent/client/origin.h"
#include "agent/edge/route/answer.h"
#include "platform/http/inflate.h"
#include "platform/log.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/status.h"

namespace holdfast::agent {
namespace {

// AnswerReader limits the bytes that are collected.
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
// An answer that is wanted whole has at least this time, if its request has.
constexpr Duration whole_answer_time_min = std::chrono::seconds(5);

// What is whole_if_it_moves takes at most as long as an API server works on a request (its
// --request-timeout): it holds memory that others need.
constexpr Duration whole_answer_time_max = std::chrono::minutes(1);

sync::autonomy::Evidence evidence_of(const Result<http::Response>& outcome) {
  if (!outcome) return sync::autonomy::Evidence::failed;
  const bool overloaded = outcome->status == 429 || outcome->status == 503;
  return overloaded ? sync::autonomy::Evidence::overloaded : sync::autonomy::Evidence::answered;
}

sync::autonomy::UplinkClass class_of(http::Method method, std::string_view target, bool own) {
  return sync::autonomy::class_of(http::to_string(method), target.substr(0, target.find('?')), own);
}

// `limit`: of the request.
std::optional<PassOn> pass_on(Delivery delivery, Duration limit) {
  if (delivery == Delivery::moving) return PassOn{};
  if (delivery != Delivery::whole_if_it_fits) return std::nullopt;
  // An answer that is still moving when three quarters of its time are over is better than none.
  return PassOn{.bytes = no_limit,
                .time = std::max<Duration>(limit / 4 * 3, whole_answer_time_min)};
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
      link_(settings.link, random, clock.mono()),
      servers_(settings.server_pool, client.access().servers().size(), random, clock.mono()),
      answers_(settings.answers),
      bytes_(std::make_shared<UplinkBytes>(executor, settings.rates, clock)),
      changed_(executor),
      servers_changed_(std::move(executor)),
      paths_(servers_.size(),
             sync::autonomy::PathTime(settings.link.probe_deadline,
                                      sync::autonomy::first_answer_limit(servers_.size()),
                                      settings.read_deadline)),
      outage_(sync::autonomy::OutageConfig{}, clock.mono()) {}

std::string Uplink::server_name(std::size_t server) const {
  const std::vector<ServerAddress> all = client_.access().servers();
  return all[server % all.size()].at.text();
}

std::optional<std::size_t> Uplink::next_server(bool repeatable, std::size_t server,
                                               std::size_t tries) {
  // Another server is only asked if this one is known to have failed.
  const bool servers_fault = servers_.at(server).health == sync::autonomy::ServerHealth::failed;
  if (repeatable && servers_fault && tries < servers_.size()) {
    const std::size_t other = servers_.next(server);
    if (other != server) return other;
  }
  // No server is left to ask: a probe must show whether the link is down.
  if (servers_.size() > 1) probe_now();
  return std::nullopt;
}

asio::awaitable<Result<ReadAnswer>> Uplink::forward_to(const SentRequest& sent,
                                                       http::Request request) {
  // Every answer with a body is read as a stream, so that AnswerReader can limit it.
  const bool as_stream =
      sent.delivery == Delivery::streamed || request.method != http::Method::head;
  auto outcome =
      co_await client_.forward(std::move(request), as_stream, sent.deadline(), sent.server);
  if (outcome && sent.delivery != Delivery::streamed)
    outcome = http::inflated(*std::move(outcome), {.body_bytes = no_limit});
  co_return co_await read(sent, std::move(outcome));
}

asio::awaitable<Result<ReadAnswer>> Uplink::send_to(const SentRequest& sent, ApiRequest request) {
  auto outcome = co_await client_.send(std::move(request), true, sent.deadline(), sent.server);
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
      .whose = sent.own_credentials ? Requester::own : Requester::foreign,
      .deadline = sent.deadline(),
      .count = [bytes = bytes_, server = sent.server, traffic = sent.traffic](
                   std::size_t size) { bytes->received_from(server, traffic, size); },
      .received = [bytes = bytes_, server = sent.server] { return bytes->received_from(server); }};
  if (sent.may_be_large) rules.silence = sent.limit;
  if (sent.delivery == Delivery::whole_if_it_moves) rules.longest = whole_answer_time_max;
  const bool success = outcome->status >= 200 && outcome->status < 300;
  // Passed on in chunks, a body without a marked end would look whole wherever it was cut off.
  if (success && !outcome->ends_with_connection) rules.pass_on = pass_on(sent.delivery, sent.limit);
  auto answer = co_await answers_.read(*std::move(outcome), std::move(rules));
  // A body that takes long or is broken says nothing about the link; a probe shows whether that is
  // down.
  const bool late = answer && answer->body == ReadAnswer::Body::late;
  if (late && sent.heartbeat) co_return fail(Errc::timeout, std::move(answer->problem));
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
  std::size_t server = servers_.next();
  for (std::size_t tries = 1;; ++tries) {
    bytes_->sent(traffic, agent::size_of(request));
    // Half of the remaining time is kept for another server.
    const bool last = servers_.size() == tries;
    const MonoTime began = clock_.mono();
    const MonoTime until = last ? deadline : began + (deadline - began) / 2;
    const SentRequest sent{.began = began,
                           .server = server,
                           .own_credentials = own_credentials,
                           .target = request.target,
                           .traffic = traffic,
                           .timeout_is_evidence = timeout_is_evidence,
                           .limit = until - began,
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
  std::size_t server = servers_.next();
  for (std::size_t tries = 1;; ++tries) {
    const bool own_credentials = request.authorization.empty();
    const SentRequest sent{.began = clock_.mono(),
                           .server = server,
                           .own_credentials = own_credentials,
                           .target = request.target,
                           .traffic = traffic,
                           .timeout_is_evidence = timeout_meaning == TimeoutMeaning::of_link,
                           .limit = limit.value_or(path(server).limit()),
                           .heartbeat = !limit,
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
  if (answered) bytes_->expect(sent.traffic, agent::size_of(*outcome));
  outcome = check_origin(client_.access(), sent.target, std::move(outcome));
  measure(sent, outcome);
  // Some API servers do answer so on some paths, which any client may choose.
  if (answered && !outcome && !sync::autonomy::is_for_document(sent.target)) {
    probe_now();
    return outcome;
  }
  if (!outcome) {
    // No evidence about the cloud: the request was cancelled or reached an own limit.
    const Errc code = outcome.error().code;
    if (code == Errc::cancelled || code == Errc::exhausted) return outcome;
    if (code == Errc::timeout && !sent.timeout_is_evidence) return outcome;
    if (code == Errc::timeout && !is_evidence(sent)) {
      probe_now();
      return outcome;
    }
  }
  if (outcome && observer_ != nullptr) observer_->answered(*outcome);
  std::string reason =
      outcome ? "answered " + std::to_string(outcome->status) : outcome.error().what;
  // A request that hold() has blocked never reached a server.
  const bool held = client_.held();
  const bool rejected = outcome && sent.own_credentials && outcome->status == 401;
  if (rejected) {
    // The server is reachable, but of no use until the node has other credentials. Other servers or
    // the cache answer meanwhile.
    reason = "the API server does not accept the node's credentials";
    outcome = fail(Errc::denied, reason);
  }
  if (!held) record_server(sent, evidence_of(outcome), reason);
  const bool others = !outcome && !held && servers_.any_in_rotation();
  if (rejected && !others && observer_ != nullptr) observer_->unauthorized();
  const sync::autonomy::Evidence evidence = evidence_of(outcome);
  const auto fault = evidence == sync::autonomy::Evidence::answered
                         ? std::optional<sync::autonomy::LinkFault>()
                     : evidence == sync::autonomy::Evidence::overloaded
                         ? sync::autonomy::LinkFault::overloaded
                         : sync::autonomy::fault_of(outcome.error());
  note(fault);
  const auto pause = outcome ? pause_of(*outcome, {.pause_min = {}}) : std::nullopt;
  // While another server may answer, this one is no evidence against the link.
  const bool changed = !others && link_.record(clock_.mono(), sent.began, evidence, reason,
                                               pause.value_or(Duration::zero()));
  if (changed) announce();
  if (!others) update_outage(fault, reason);
  // Bytes of a stream are charged as they arrive, and it ends if its server fails.
  if (outcome && outcome->stream) {
    const auto count = [bytes = bytes_, server = sent.server, traffic = sent.traffic](
                           std::size_t size) { bytes->received_from(server, traffic, size); };
    streams_.add(*outcome, sent.server, count);
  }
  return outcome;
}

bool Uplink::is_evidence(const SentRequest& sent) const {
  const std::uint64_t meanwhile = bytes_->received_from(sent.server) - sent.received_before;
  if (sync::autonomy::is_busy(meanwhile)) return false;
  return sent.heartbeat || path(sent.server).is_evidence(sent.limit);
}

void Uplink::measure(const SentRequest& sent, const Result<http::Response>& outcome) {
  if (!sent.heartbeat) return;
  sync::autonomy::PathTime& path = paths_.at(sent.server);
  const bool was_late = path.answers_late();
  if (outcome) path.answered(clock_.mono() - sent.began);
  if (path.answers_late() != was_late) {
    log_info(was_late ? "the API server answers in time again"
                      : "the API server answers late: the cache answers what it can at once",
             {{"server", server_name(sent.server)},
              {"renewals_take", format_duration(*path.smoothed())}});
  }
  if (!outcome && outcome.error().code == Errc::timeout) path.timed_out();
}

void Uplink::note(std::optional<sync::autonomy::LinkFault> fault) {
  fault_ = fault;
  if (fault) ++faults_.at(static_cast<std::size_t>(*fault));
}

void Uplink::record_server(const SentRequest& sent, sync::autonomy::Evidence evidence,
                           const std::string& reason) {
  if (evidence == sync::autonomy::Evidence::answered) client_.prefer(sent.server);
  if (!servers_.record(clock_.mono(), sent.began, sent.server, evidence, reason)) return;
  servers_changed_.notify_all();
  if (servers_.size() == 1) return;  // With one server, the link's state says it all.
  const sync::autonomy::ServerHealth health = servers_.at(sent.server).health;
  log_info(
      "API server",
      {{"server", server_name(sent.server)}, {"health", to_string(health)}, {"reason", reason}});
  if (health != sync::autonomy::ServerHealth::failed) return;
  client_.forget_connections(sent.server);
  streams_.sever(sent.server);
}

bool Uplink::may_succeed_elsewhere(const Error& error) const {
  const bool servers_fault =
      error.code == Errc::unavailable || error.code == Errc::timeout || error.code == Errc::corrupt;
  return servers_fault && servers_.size() > 1 && servers_.any_in_rotation();
}

void Uplink::rejoined() {
  link_.rejoined(clock_.mono());
  announce();
  update_outage(std::nullopt, "");
}

void Uplink::rejoin_failed(const Error& why) {
  link_.rejoin_failed(clock_.mono(), why.what);
  announce();
  const sync::autonomy::LinkFault fault = sync::autonomy::fault_of(why);
  const bool is_ours = fault == sync::autonomy::LinkFault::disk;
  update_outage(is_ours ? fault : fault_.value_or(sync::autonomy::LinkFault::other), why.what);
}

std::string Uplink::describe_outage() const {
  return sync::autonomy::describe(outage_, {clock_.mono(), clock_.wall()});
}

// Updates the outage, and wakes OutageReport if there is something to report.
void Uplink::update_outage(std::optional<sync::autonomy::LinkFault> fault,
                           std::string_view reason) {
  const MonoTime now = clock_.mono();
  outage_.record(now, link_.state(), fault, reason);
  if (outage_.due() <= now) changed_.notify_all();
}

void Uplink::announce() {
  log_debug("link", {{"state", to_string(link_.state())}, {"reason", link_.reason()}});
  // Connections from before a fault may hang for ever. The one whose probe was answered does not.
  const sync::autonomy::LinkState state = link_.state();
  const bool is_fault =
      state == sync::autonomy::LinkState::suspect || state == sync::autonomy::LinkState::offline;
  if (is_fault) client_.forget_connections();
  changed_.notify_all();
}

}  // namespace holdfast::agent
