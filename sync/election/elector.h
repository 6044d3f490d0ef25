// Leader election through a Lease, as client-go does it: decides which of several replicas acts.
//
// Pure: the Elector decides; its owner sends one request at a time, passes in the answer and waits
// until deadline(). Two replicas never both have a may_act_until() in the future, as long as their
// clocks run at about the same speed. A lease of another holder is judged by the time on our own
// clock since it last changed, never by the times written in it.
//
// It is more careful than client-go in three cases: a leader that sees another holder stops at once
// instead of at its renew deadline, a follower waits until a deleted lease would have expired, and
// both stop if the API server's data was replaced by older data.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "platform/random.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/model/node.h"
#include "sync/objects/version.h"
#include "sync/pacing/monotonic.h"

namespace holdfast::sync::election {

// The defaults are client-go's.
struct ElectionConfig {
  std::string identity;  // unique for each run of each replica
  std::string name;      // of the Lease
  std::string namespace_name;
  // How long followers wait for a leader that does not renew.
  Duration lease_duration = std::chrono::seconds(15);
  // A leader that could not renew for so long gives up.
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);  // between two attempts
};

// Errors: invalid, with client-go's messages.
[[nodiscard]] Status check(const ElectionConfig& config);

// Inputs. Found, Missing, Written and Failed answer the request in flight.
struct Started {};
struct Found {
  Lease lease;
};
struct Missing {};  // the lease does not exist
// A Create or Update succeeded.
struct Written {
  Lease lease;  // as the server has it now
};
struct Failed {  // also for a write that conflicts, and for a lease that cannot be parsed
  Error error;
};
struct TimePassed {};
struct LeaseReleased {
};                   // the owner learned that the lease is free; only a waiting follower reacts
struct Stopping {};  // the owner's work has ended; it has cancelled any request in flight
using Input =
    std::variant<Started, Found, Missing, Written, Failed, TimePassed, LeaseReleased, Stopping>;

// Actions for the owner. Requests must end by their `deadline`.
struct Read {
  MonoTime deadline;
  bool operator==(const Read&) const = default;
};
struct Create {
  Lease lease;
  MonoTime deadline;
  bool operator==(const Create&) const = default;
};
struct Update {  // must fail if the lease's version has changed
  Lease lease;
  MonoTime deadline;
  bool operator==(const Update&) const = default;
};
struct BecameLeader {
  bool operator==(const BecameLeader&) const = default;
};
struct SawLeader {  // the lease now has another holder, or none (empty)
  std::string identity;
  bool operator==(const SawLeader&) const = default;
};
struct LostLeadership {  // permanent: the process should end
  std::string why;
  bool operator==(const LostLeadership&) const = default;
};
// The lease has an older version than it had: the API server's data was replaced by older data, as
// by restoring a backup. Nothing else shows that to the watches of this replica: until the versions
// have caught up they stay silent. Permanent, whether this replica leads or not: the process should
// end.
struct DataReplaced {
  std::string why;
  bool operator==(const DataReplaced&) const = default;
};
struct Warn {  // an attempt failed
  std::string what;
  bool operator==(const Warn&) const = default;
};
// The answer to Stopping: the lease is released, or that failed.
struct Stopped {
  bool operator==(const Stopped&) const = default;
};
using Action = std::variant<Read, Create, Update, BecameLeader, SawLeader, LostLeadership,
                            DataReplaced, Warn, Stopped>;
using Actions = std::vector<Action>;

class Elector {
 public:
  // `config` must pass check(). `random` must outlive the Elector.
  Elector(ElectionConfig config, Random& random);

  // Takes one input and returns what to do, in order. `now` must not run backwards; `wall` is only
  // written into the lease.
  [[nodiscard]] Actions step(MonoTime now, WallTime wall, Input input);

  // When to call step(TimePassed) if no other input comes first; MonoTime::max(): never.
  [[nodiscard]] MonoTime deadline() const;

  [[nodiscard]] bool leads() const { return leads_; }

  // Until when a leader may send writes, counted from when the last successful renewal was sent;
  // MonoTime::min() if this replica does not lead.
  [[nodiscard]] MonoTime may_act_until() const;

  // Upstream's watchdog for /healthz: fails if this leader's lease expired more than `tolerance`
  // ago. Errors: timeout.
  [[nodiscard]] Status health(MonoTime now, Duration tolerance) const;

 private:
  enum class State : std::uint8_t { idle, waiting, reading, creating, updating, ended };

  // The fields of a lease that matter here; the others are kept for other writers.
  struct Record {
    std::string holder;
    Duration duration{};
    std::optional<WallTime> acquired;
    std::optional<WallTime> renewed;
    std::int32_t transitions = 0;
    bool operator==(const Record&) const = default;
  };

  void on(MonoTime now, WallTime wall, const Started& started, Actions& actions);
  void on(MonoTime now, WallTime wall, const Found& found, Actions& actions);
  void on(MonoTime now, WallTime wall, const Missing& missing, Actions& actions);
  void on(MonoTime now, WallTime wall, const Written& written, Actions& actions);
  void on(MonoTime now, WallTime wall, const Failed& failed, Actions& actions);
  void on(MonoTime now, WallTime wall, const TimePassed& passed, Actions& actions);
  void on(MonoTime now, WallTime wall, const LeaseReleased& lease_released, Actions& actions);
  void on(MonoTime now, WallTime wall, const Stopping& stopping, Actions& actions);

  // Starts to acquire or renew the lease.
  void attempt(MonoTime now, WallTime wall, Actions& actions);
  void read(MonoTime now, Actions& actions);
  void write(MonoTime now, WallTime wall, Actions& actions);
  void release(MonoTime now, WallTime wall, Actions& actions);
  void succeeded(MonoTime now, Actions& actions);
  // An empty `why` means that nothing is wrong: another replica holds the lease.
  void failed(MonoTime now, const std::string& why, Actions& actions);
  void lost(std::string why, Actions& actions);
  // Ends the elector if the version of the lease went back.
  void note_version(const Lease& lease, Actions& actions);
  void stopped(Actions& actions);
  void observe(MonoTime now, const Lease& lease, Actions& actions);
  [[nodiscard]] static Record record_of(const Lease& lease);
  [[nodiscard]] bool held_by_other(MonoTime now) const;
  [[nodiscard]] MonoTime request_deadline(MonoTime now) const;

  ElectionConfig config_;
  Random& random_;
  pacing::Monotonic monotonic_;
  State state_ = State::idle;
  bool leads_ = false;
  bool releasing_ = false;   // Stopping was received; the lease is being released
  bool optimistic_ = false;  // the update in flight relies on the last lease seen

  // As last seen, with its version and the fields of other writers.
  std::optional<Lease> lease_;
  std::optional<Record> observed_;  // std::nullopt: never seen
  objects::Version newest_ = 0;     // of the lease, which may be gone
  MonoTime observed_at_{};          // when we saw it change or vanish last
  bool gone_ = false;               // the lease has not existed since observed_at_

  MonoTime next_try_ = MonoTime::max();
  MonoTime tried_at_{};                 // when this attempt began
  MonoTime sent_at_{};                  // when this attempt's write was sent
  MonoTime renewed_at_{};               // when the last successful write was sent
  MonoTime give_up_ = MonoTime::max();  // when a leader stops trying to renew
};

}  // namespace holdfast::sync::election
