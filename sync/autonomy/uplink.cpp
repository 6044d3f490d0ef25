#include "sync/autonomy/uplink.h"

#include <algorithm>
#include <string>

namespace holdfast::sync::autonomy {
namespace {

// The outcome after is_rejected() was taken into account.
bool is_answered(const uplink::Ended& ended) {
  return ended.status.has_value() && !uplink::is_rejected(ended);
}

Evidence evidence_of(const uplink::Ended& ended) {
  if (!is_answered(ended)) return Evidence::failed;
  const bool overloaded = *ended.status == 429 || *ended.status == 503;
  return overloaded ? Evidence::overloaded : Evidence::answered;
}

std::optional<LinkFault> fault_shown_by(const uplink::Ended& ended) {
  switch (evidence_of(ended)) {
    case Evidence::answered:
      return std::nullopt;
    case Evidence::overloaded:
      return LinkFault::overloaded;
    case Evidence::failed:
      break;
  }
  return uplink::is_rejected(ended) ? LinkFault::credentials : fault_of(ended.error);
}

// Once is enough.
void wake_link(uplink::Effects& effects) {
  const bool wakes = std::any_of(effects.begin(), effects.end(), [](const uplink::Effect& effect) {
    return std::holds_alternative<uplink::WakeLink>(effect);
  });
  if (!wakes) effects.emplace_back(uplink::WakeLink{});
}

std::string reason_of(const uplink::Ended& ended) {
  if (uplink::is_rejected(ended)) return std::string(uplink::rejected);
  return ended.status ? "answered " + std::to_string(*ended.status) : ended.error.what;
}

}  // namespace

bool uplink::is_rejected(const Ended& ended) {
  return ended.status == 401 && ended.request.has_own_credentials;
}

UplinkMachine::UplinkMachine(const UplinkConfig& config, std::size_t servers, Random& random,
                             MonoTime now)
    : link_(config.link, random, now),
      servers_(config.servers, servers, random, now),
      paths_(servers, PathTime(config.link.probe_deadline, first_answer_limit(servers),
                               config.read_deadline)),
      outage_(config.outage, now) {}

uplink::Effects UplinkMachine::step(MonoTime now, const uplink::Input& input) {
  uplink::Effects effects;
  std::visit([this, now, &effects](const auto& one) { take(now, one, effects); }, input);
  return effects;
}

std::optional<std::size_t> UplinkMachine::next_server(std::size_t server, std::size_t tries) {
  const bool servers_fault = servers_.at(server).health == ServerHealth::failed;
  if (!servers_fault || tries >= servers_.size()) return std::nullopt;
  const std::size_t other = servers_.next(server);
  return other != server ? std::optional(other) : std::nullopt;
}

bool UplinkMachine::may_succeed_elsewhere(const Error& error) const {
  const bool servers_fault =
      error.code == Errc::unavailable || error.code == Errc::timeout || error.code == Errc::corrupt;
  return servers_fault && servers_.size() > 1 && servers_.any_in_rotation();
}

UplinkMachine::Meaning UplinkMachine::meaning_of(const uplink::Ended& ended) const {
  const uplink::Try& request = ended.request;
  // Some API servers do answer so on some paths, which any client may choose.
  if (ended.is_from_stranger && !request.is_for_document) return Meaning::doubt;
  if (ended.status) return Meaning::evidence;
  // It was cancelled, or reached an own limit.
  const Errc code = ended.error.code;
  if (code == Errc::cancelled || code == Errc::exhausted) return Meaning::nothing;
  if (code != Errc::timeout) return Meaning::evidence;
  if (!request.timeout_is_evidence) return Meaning::nothing;
  if (is_busy(ended.received_meanwhile)) return Meaning::doubt;
  const bool had_time = request.is_heartbeat || path(request.server).is_evidence(request.limit);
  return had_time ? Meaning::evidence : Meaning::doubt;
}

void UplinkMachine::take(MonoTime now, const uplink::Ended& ended, uplink::Effects& effects) {
  measure(now, ended, effects);
  const Meaning meaning = meaning_of(ended);
  if (meaning == Meaning::doubt) take(now, uplink::ProbeWanted{}, effects);
  if (meaning != Meaning::evidence) return;
  const Evidence evidence = evidence_of(ended);
  const std::string reason = reason_of(ended);
  if (!ended.was_held) judge_server(now, ended, evidence, reason, effects);
  // While another server may answer, this one is no evidence against the link.
  const bool others = !is_answered(ended) && !ended.was_held && servers_.any_in_rotation();
  if (uplink::is_rejected(ended) && !others) effects.emplace_back(uplink::RenewCredentials{});
  fault_ = fault_shown_by(ended);
  if (fault_) ++faults_.at(static_cast<std::size_t>(*fault_));
  if (others) return;
  if (link_.record(now, ended.request.began, evidence, reason, ended.retry_after)) {
    announce(effects);
  }
  update_outage(now, fault_, reason, effects);
}

void UplinkMachine::take(MonoTime now, const uplink::ProbeWanted&, uplink::Effects& effects) {
  link_.probe_now(now);
  wake_link(effects);
}

void UplinkMachine::take(MonoTime now, const uplink::ProbeBegins&, uplink::Effects& effects) {
  // A connection that was opened earlier in the outage may hang.
  if (link_.state() == LinkState::offline) effects.emplace_back(uplink::ForgetConnections{});
  link_.probing(now);
}

void UplinkMachine::take(MonoTime now, const uplink::NetworkBetter&, uplink::Effects& effects) {
  if (link_.network_changed(now)) ++network_changes_;
  wake_link(effects);
}

void UplinkMachine::take(MonoTime now, const uplink::LeaseRenewed& renewed, uplink::Effects&) {
  link_.renewed(now, renewed.sent);
}

void UplinkMachine::take(MonoTime, const uplink::WriteAccepted&, uplink::Effects&) {
  link_.accepted_locally();
}

void UplinkMachine::take(MonoTime now, const uplink::Rejoined&, uplink::Effects& effects) {
  link_.rejoined(now);
  announce(effects);
  update_outage(now, std::nullopt, "", effects);
}

void UplinkMachine::take(MonoTime now, const uplink::RejoinFailed& failed,
                         uplink::Effects& effects) {
  link_.rejoin_failed(now, failed.why.what);
  announce(effects);
  const LinkFault fault = fault_of(failed.why);
  const bool is_ours = fault == LinkFault::disk;
  update_outage(now, is_ours ? fault : fault_.value_or(LinkFault::other), failed.why.what, effects);
}

void UplinkMachine::measure(MonoTime now, const uplink::Ended& ended, uplink::Effects& effects) {
  if (!ended.request.is_heartbeat) return;
  PathTime& path = paths_.at(ended.request.server);
  const bool was_late = path.answers_late();
  if (ended.status) path.answered(now - ended.request.began);
  if (path.answers_late() != was_late) {
    effects.emplace_back(uplink::ReportTime{ended.request.server});
  }
  if (!ended.status && ended.error.code == Errc::timeout) path.timed_out();
}

void UplinkMachine::judge_server(MonoTime now, const uplink::Ended& ended, Evidence evidence,
                                 std::string_view reason, uplink::Effects& effects) {
  const std::size_t server = ended.request.server;
  if (evidence == Evidence::answered) effects.emplace_back(uplink::Prefer{server});
  if (!servers_.record(now, ended.request.began, server, evidence, reason)) return;
  effects.emplace_back(uplink::WakeServers{});
  if (servers_.size() == 1) return;  // With one server, the link's state says it all.
  effects.emplace_back(uplink::ReportHealth{server});
  if (servers_.at(server).health != ServerHealth::failed) return;
  effects.emplace_back(uplink::Sever{server});
}

void UplinkMachine::announce(uplink::Effects& effects) const {
  // Connections from before a fault may hang for ever. The one whose probe was answered does not.
  const LinkState state = link_.state();
  const bool is_fault = state == LinkState::suspect || state == LinkState::offline;
  if (is_fault) effects.emplace_back(uplink::ForgetConnections{});
  wake_link(effects);
}

void UplinkMachine::update_outage(MonoTime now, std::optional<LinkFault> fault,
                                  std::string_view reason, uplink::Effects& effects) {
  outage_.record(now, link_.state(), fault, reason);
  if (outage_.due() <= now) wake_link(effects);
}

}  // namespace holdfast::sync::autonomy
