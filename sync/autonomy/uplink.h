// The path to the API servers as one machine: step(now, input) -> effects.
//
// From how each request ended it judges the link, each server and its times, and the outage. It has
// no clock, socket or log: its owner passes it every outcome, and performs the effects in order.
//
// The link is as healthy as its best server: while another one may answer, a server that fails is
// no evidence against the link. Nor is a request that was cancelled, reached a limit of the
// agent's own, or got no answer in less time than a heartbeat may take, or while its server sent
// others; then a probe decides. Pure; `now` must not run backwards.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "platform/random.h"
#include "platform/result.h"
#include "sync/autonomy/fault.h"
#include "sync/autonomy/link.h"
#include "sync/autonomy/outage.h"
#include "sync/autonomy/path_time.h"
#include "sync/autonomy/server_pool.h"

namespace holdfast::sync::autonomy {

struct UplinkConfig {
  LinkConfig link = {};
  ServerPoolConfig servers = {};
  // How long a read waits for the API server if the cache can answer it.
  Duration read_deadline = std::chrono::seconds(2);
  OutageConfig outage = {};
};

namespace uplink {

// One try of a request, at one server.
struct Try {
  MonoTime began{};
  std::size_t server = 0;
  Duration limit{};
  bool is_heartbeat = false;
  bool has_own_credentials = false;  // the node's
  // Only an API server may answer it; see is_for_document().
  bool is_for_document = true;
  // Without an answer in time the link or the server may be down. Otherwise the server itself may
  // be waiting for somebody else.
  bool timeout_is_evidence = true;
};

// A try has ended: with the status of an API server's answer, or with an error.
struct Ended {
  Try request = {};
  std::optional<int> status = {};
  Error error = {};                      // without a status
  bool is_from_stranger = false;         // there was an answer, but not of an API server
  bool was_held = false;                 // it has reached no server
  std::uint64_t received_meanwhile = 0;  // bytes of other answers from the same server
  Duration retry_after{};                // of 429 and 503
};

// The link is to be probed now, for example after the machine slept.
struct ProbeWanted {};
// A probe of the link is about to be sent.
struct ProbeBegins {};
// The machine's own network has become better.
struct NetworkBetter {};
// A renewal of the lease was granted.
struct LeaseRenewed {
  MonoTime sent{};
};
// A write was accepted that the API server does not have.
struct WriteAccepted {};
// A rejoin has ended.
struct Rejoined {};
struct RejoinFailed {
  Error why;
};

using Input = std::variant<Ended, ProbeWanted, ProbeBegins, NetworkBetter, LeaseRenewed,
                           WriteAccepted, Rejoined, RejoinFailed>;

// The state of the link, the time of its next probe or that of the next report has changed: wake
// those who wait for them.
struct WakeLink {};
// The same for the probes of single servers.
struct WakeServers {};
// This server answers: ask it first.
struct Prefer {
  std::size_t server = 0;
  bool operator==(const Prefer&) const = default;
};
// Close the connections to this server and end its streams.
struct Sever {
  std::size_t server = 0;
  bool operator==(const Sever&) const = default;
};
// Use no connection again that was opened before: it may hang for ever.
struct ForgetConnections {};
// The only servers that answer refuse the node's credentials.
struct RenewCredentials {};
// Say in the log that the health of a server has changed, and that it answers late or in time
// again.
struct ReportHealth {
  std::size_t server = 0;
  bool operator==(const ReportHealth&) const = default;
};
struct ReportTime {
  std::size_t server = 0;
  bool operator==(const ReportTime&) const = default;
};

using Effect = std::variant<WakeLink, WakeServers, Prefer, Sever, ForgetConnections,
                            RenewCredentials, ReportHealth, ReportTime>;
using Effects = std::vector<Effect>;

// Whether an API server refuses the node's own credentials: it was reached, but is of no use until
// the node has others.
[[nodiscard]] bool is_rejected(const Ended& ended);
inline constexpr std::string_view rejected =
    "the API server does not accept the node's credentials";

}  // namespace uplink

class UplinkMachine {
 public:
  // `servers` is their number, at least 1. `random` must outlive the machine.
  UplinkMachine(const UplinkConfig& config, std::size_t servers, Random& random, MonoTime now);

  [[nodiscard]] uplink::Effects step(MonoTime now, const uplink::Input& input);

  // The server for the next request, and for its next try after `tries` tries, the last one at
  // `server`. std::nullopt: that one is not known to have failed, or all were asked.
  [[nodiscard]] std::size_t next_server() { return servers_.next(); }
  [[nodiscard]] std::optional<std::size_t> next_server(std::size_t server, std::size_t tries);
  // Whether a request that failed with `error` may still succeed at another server.
  [[nodiscard]] bool may_succeed_elsewhere(const Error& error) const;
  // The server whose probe is due, after planning its next one. See ServerPool::take_probe().
  [[nodiscard]] std::optional<std::size_t> take_probe(MonoTime now) {
    return servers_.take_probe(now);
  }

  [[nodiscard]] const Link& link() const { return link_; }
  [[nodiscard]] const ServerPool& servers() const { return servers_; }
  [[nodiscard]] const PathTime& path(std::size_t server) const { return paths_.at(server); }
  [[nodiscard]] const Outage& outage() const { return outage_; }
  [[nodiscard]] Outage& outage() { return outage_; }

  // The current fault; nothing if the last evidence was an answer.
  [[nodiscard]] std::optional<LinkFault> fault() const { return fault_; }
  // How often each fault occurred since the start.
  using Faults = std::array<std::uint64_t, link_faults>;
  [[nodiscard]] const Faults& faults() const { return faults_; }
  // How often the machine's network became better, as far as it counted.
  [[nodiscard]] std::uint64_t network_changes() const { return network_changes_; }

 private:
  // One function for each input.
  void take(MonoTime now, const uplink::Ended& ended, uplink::Effects& effects);
  void take(MonoTime now, const uplink::ProbeWanted& wanted, uplink::Effects& effects);
  void take(MonoTime now, const uplink::ProbeBegins& begins, uplink::Effects& effects);
  void take(MonoTime now, const uplink::NetworkBetter& better, uplink::Effects& effects);
  void take(MonoTime now, const uplink::LeaseRenewed& renewed, uplink::Effects& effects);
  void take(MonoTime now, const uplink::WriteAccepted& accepted, uplink::Effects& effects);
  void take(MonoTime now, const uplink::Rejoined& rejoined, uplink::Effects& effects);
  void take(MonoTime now, const uplink::RejoinFailed& failed, uplink::Effects& effects);

  void measure(MonoTime now, const uplink::Ended& ended, uplink::Effects& effects);
  // What a try shows; and whether a probe must show it instead, or nothing does.
  enum class Meaning : std::uint8_t { nothing, doubt, evidence };
  [[nodiscard]] Meaning meaning_of(const uplink::Ended& ended) const;
  void judge_server(MonoTime now, const uplink::Ended& ended, Evidence evidence,
                    std::string_view reason, uplink::Effects& effects);
  void announce(uplink::Effects& effects) const;
  void update_outage(MonoTime now, std::optional<LinkFault> fault, std::string_view reason,
                     uplink::Effects& effects);

  Link link_;
  ServerPool servers_;
  std::vector<PathTime> paths_;  // of each server
  Outage outage_;
  std::optional<LinkFault> fault_;
  Faults faults_{};
  std::uint64_t network_changes_ = 0;
};

}  // namespace holdfast::sync::autonomy
