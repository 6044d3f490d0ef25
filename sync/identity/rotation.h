// Decides when a node requests its next certificate, with which credentials, and when it retries.
//
// A certificate is replaced at a random moment between 70 and 90 % of its lifetime, as kubelet does
// it, so that nodes that were installed on the same day do not all renew on the same day. The old
// certificate is kept until the new one has arrived: it may still work, and a server that is
// unreachable for a month must not cost a node its identity. If the certificate has expired, is
// missing or is refused by the server, the bootstrap credentials are used; if those are refused
// too, the old certificate is tried again, in turn. A pending request is polled for as long as it
// exists, and no second one is made meanwhile.
//
// Pure: inputs are the time, the wall time by which certificates are judged (WallFloor) and what
// happened; outputs are actions. Each SubmitRequest is answered by exactly one Submitted or
// NotSubmitted, each PollRequest by exactly one Polled or PollFailed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "platform/random.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/identity/csr.h"
#include "sync/pacing/backoff.h"
#include "sync/pacing/monotonic.h"

namespace holdfast::sync::identity {

struct Validity {
  WallTime not_before{};
  WallTime not_after{};

  bool operator==(const Validity&) const = default;
};

struct RotationConfig {
  double earliest = 0.7;  // part of a certificate's lifetime, in (0, latest]
  double latest = 0.9;    // part of a certificate's lifetime, below 1
  // Whether there are bootstrap credentials. If not, all requests use the node's own.
  bool bootstraps = true;
  // Between failed attempts, in addition to `pause`.
  pacing::BackoffConfig backoff = {.initial = std::chrono::seconds(4),
                                   .most = std::chrono::minutes(1),
                                   .reset_after = std::chrono::hours(1)};
  Duration pause = std::chrono::seconds(1);
  // Used instead of `pause` after a request was denied or failed, or its certificate was unusable.
  Duration denied_pause = std::chrono::minutes(10);
  // Between polls of a pending request: starts with `poll_first`, doubles up to `poll_most`.
  Duration poll_first = std::chrono::milliseconds(500);
  Duration poll_most = std::chrono::seconds(30);
  // The wall clock may be set at any time, so it is read again at least this often.
  Duration recheck = std::chrono::minutes(5);
};

namespace rotate {

// The credentials to use.
enum class Credentials : std::uint8_t { own, bootstrap };

// Actions.
struct SubmitRequest {  // request a certificate, with a new key
  Credentials with;
  bool operator==(const SubmitRequest&) const = default;
};
struct PollRequest {  // read the request, with the credentials that made it
  std::string name;
  Credentials with;
  bool operator==(const PollRequest&) const = default;
};
// Use the certificate issued for the last SubmitRequest's key; answered by Adopted or Unusable.
struct Adopt {
  std::string certificate_pem;
  bool operator==(const Adopt&) const = default;
};
struct Warn {
  std::string what;
  bool operator==(const Warn&) const = default;
};
using Action = std::variant<SubmitRequest, PollRequest, Adopt, Warn>;
using Actions = std::vector<Action>;

// Inputs.
struct TimePassed {};
struct Submitted {
  std::string name;
};
struct NotSubmitted {
  Error error;
};
struct Polled {
  CsrState state;
};
struct PollFailed {  // not_found: the request no longer exists
  Error error;
};
struct Adopted {
  Validity validity;
};
// The issued certificate cannot be used.
struct Unusable {
  Error error;
};
struct Refused {};  // the server rejected the certificate that the node holds
using Input = std::variant<TimePassed, Submitted, NotSubmitted, Polled, PollFailed, Adopted,
                           Unusable, Refused>;

}  // namespace rotate

class Rotation {
 public:
  enum class State : std::uint8_t { holding, submitting, pending, polling, adopting };

  // `held` is the validity of the certificate that an earlier run left, if any. step() may be
  // called at once. `random` must outlive the Rotation.
  Rotation(const RotationConfig& config, Random& random, std::optional<Validity> held,
           MonoTime now);

  // `wall` is the time by which certificates are judged. Inputs other than TimePassed and Refused
  // must answer the last action; otherwise the process stops.
  [[nodiscard]] rotate::Actions step(MonoTime now, WallTime wall, rotate::Input input);

  // When to call step(TimePassed) if no other input comes first; max() while an answer is awaited.
  [[nodiscard]] MonoTime deadline() const { return deadline_; }

  [[nodiscard]] State state() const { return state_; }
  // When the certificate that is held will be replaced; std::nullopt if none is held.
  [[nodiscard]] std::optional<WallTime> due() const;
  [[nodiscard]] const std::optional<Validity>& held() const { return held_; }

 private:
  void hold(const std::optional<Validity>& held);
  rotate::Actions wait_or_submit(MonoTime now, WallTime wall);
  rotate::Actions on_submitted(MonoTime now, std::string name);
  rotate::Actions on_polled(MonoTime now, const CsrState& state);
  rotate::Actions on_poll_failed(MonoTime now, const Error& error);
  rotate::Actions on_adopted(MonoTime now, WallTime wall, const Validity& validity);
  rotate::Actions on_refused(MonoTime now, WallTime wall);
  rotate::Actions give_up(MonoTime now, Duration pause, std::string why);
  void poll_later(MonoTime now);
  [[nodiscard]] rotate::Credentials credentials(WallTime wall) const;

  RotationConfig config_;
  Random& random_;
  pacing::Backoff backoff_;
  pacing::Monotonic monotonic_;
  State state_ = State::holding;
  std::optional<Validity> held_;
  double fraction_ = 0;         // part of the lifetime after which the certificate is replaced
  bool refused_ = false;        // the server rejected the certificate that is held
  bool bootstrap_bad_ = false;  // the server rejected the bootstrap credentials the last time
  rotate::Credentials with_ = rotate::Credentials::own;
  std::string name_;
  Duration poll_after_{};
  MonoTime not_before_;  // no request earlier than this
  MonoTime deadline_;
};

}  // namespace holdfast::sync::identity
