// Decides when a node asks for its next certificate, with which credentials, and when to ask again.
//
// A certificate is replaced at a random moment between 70 and 90 % of its life, as kubelet's is, so
// that a fleet that was installed on one day does not come back on one day. The old one is kept
// until the new one is there, whatever happens: it may still serve, and a server that is away for a
// month must not cost a node its name. One that has expired, is missing, or that the server refuses
// is asked for with the bootstrap credentials; if those are refused, with the old one again, in
// turn. A request that nobody has decided yet is looked at for as long as it exists; there is never
// a second one beside it.
//
// Pure: time, the time of day by which certificates are judged (WallFloor) and what happened come
// in, actions go out. Exactly one of submitted, not_submitted, looked and look_failed answers each
// Ask and Look.

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
#include "sync/watch/backoff.h"

namespace holdfast::sync {

struct Validity {
  WallTime not_before{};
  WallTime not_after{};

  bool operator==(const Validity&) const = default;
};

struct RotationConfig {
  double earliest = 0.7;  // of a certificate's life; in (0, latest]
  double latest = 0.9;    // below 1
  // Whether there are bootstrap credentials; without, all requests come with the node's own.
  bool bootstraps = true;
  // Between tries that failed, besides `pause`.
  BackoffConfig backoff = {.initial = std::chrono::seconds(4),
                           .most = std::chrono::minutes(1),
                           .reset_after = std::chrono::hours(1)};
  Duration pause = std::chrono::seconds(1);
  // After somebody has decided against us: asking again at once would only annoy.
  Duration denied_pause = std::chrono::minutes(10);
  // Between looks at an undecided request: doubles up to the second.
  Duration look_first = std::chrono::milliseconds(500);
  Duration look_most = std::chrono::seconds(30);
  // The calendar may be set at any time, so it is looked at this often at least.
  Duration recheck = std::chrono::minutes(5);
};

namespace rotate {

// Which credentials to come with.
enum class Credentials : std::uint8_t { own, bootstrap };

// Actions.
struct Ask {  // for a certificate, with a new key
  Credentials with;
  bool operator==(const Ask&) const = default;
};
struct Look {  // at the request, with the credentials that it was made with
  std::string name;
  Credentials with;
  bool operator==(const Look&) const = default;
};
struct Adopt {  // what was issued for the key that was asked with; answered by adopted or unusable
  std::string certificate_pem;
  bool operator==(const Adopt&) const = default;
};
struct Warn {
  std::string what;
  bool operator==(const Warn&) const = default;
};
using Action = std::variant<Ask, Look, Adopt, Warn>;
using Actions = std::vector<Action>;

// Inputs.
struct TimePassed {};
struct Submitted {
  std::string name;
};
struct NotSubmitted {
  Error error;
};
struct Looked {
  CsrState state;
};
struct LookFailed {  // not_found: the request is gone
  Error error;
};
struct Adopted {
  Validity validity;
};
struct Unusable {
  Error error;
};
struct Refused {};  // the server does not know us by the certificate that we hold
using Input = std::variant<TimePassed, Submitted, NotSubmitted, Looked, LookFailed, Adopted,
                           Unusable, Refused>;

}  // namespace rotate

class Rotation {
 public:
  enum class State : std::uint8_t { holding, asking, pending, looking, adopting };

  // `held` is what the last run left, if anything. The first step() may come at once.
  Rotation(const RotationConfig& config, Random& random, std::optional<Validity> held,
           MonoTime now);

  // `wall` is the time that certificates are judged by.
  [[nodiscard]] rotate::Actions step(MonoTime now, WallTime wall, rotate::Input input);

  // When to call step(TimePassed) if nothing else comes first; max() while an answer is awaited.
  [[nodiscard]] MonoTime deadline() const { return deadline_; }

  [[nodiscard]] State state() const { return state_; }
  // When the certificate that is held is to be replaced; nothing while none is.
  [[nodiscard]] std::optional<WallTime> due() const;
  [[nodiscard]] const std::optional<Validity>& held() const { return held_; }

 private:
  void hold(const std::optional<Validity>& held);
  rotate::Actions wait_or_ask(MonoTime now, WallTime wall);
  rotate::Actions on_submitted(MonoTime now, std::string name);
  rotate::Actions on_looked(MonoTime now, const CsrState& state);
  rotate::Actions on_look_failed(MonoTime now, const Error& error);
  rotate::Actions on_adopted(MonoTime now, WallTime wall, const Validity& validity);
  rotate::Actions on_refused(MonoTime now, WallTime wall);
  rotate::Actions give_up(MonoTime now, Duration pause, std::string why);
  void look_later(MonoTime now);
  [[nodiscard]] rotate::Credentials credentials(WallTime wall) const;

  RotationConfig config_;
  Random& random_;
  Backoff backoff_;
  State state_ = State::holding;
  std::optional<Validity> held_;
  double fraction_ = 0;         // of its life at which it is replaced
  bool refused_ = false;        // the server does not take what we hold
  bool bootstrap_bad_ = false;  // nor the bootstrap credentials, the last time
  rotate::Credentials with_ = rotate::Credentials::own;
  std::string name_;
  Duration look_after_{};
  MonoTime not_before_;  // no request before this
  MonoTime deadline_;
};

}  // namespace holdfast::sync
