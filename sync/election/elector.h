// Who of several replicas acts: leader election through a Lease, as client-go does it, as a
// machine.
//
// The owner sends, receives and waits; one request at a time. What it may rely on: two replicas
// never both have may_act_until() ahead of them, as long as their clocks run at about the same
// speed. A lease held by somebody else is judged by our own clock since it last changed, never by
// the times that stand in it.
//
// In two cases it is more careful than client-go: a leader who sees another holder stops at once
// instead of at its renew deadline, and a follower waits out a lease that was deleted.

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

namespace holdfast::sync {

// client-go's defaults.
struct ElectionConfig {
  std::string identity;  // unique for each run of each replica
  std::string name;      // of the Lease
  std::string namespace_name;
  Duration lease_duration = std::chrono::seconds(15);  // others wait that long for a silent leader
  Duration renew_deadline = std::chrono::seconds(10);  // a leader gives up after trying that long
  Duration retry_period = std::chrono::seconds(2);     // between two tries
};

// Errors: invalid, with client-go's own words for what contradicts what.
[[nodiscard]] Status check(const ElectionConfig& config);

namespace election {

// Inputs. Found to Failed answer the request under way.
struct Started {};
struct Found {
  Lease lease;
};
struct Missing {};  // there is no such lease
struct Written {
  Lease lease;  // as the server has it now
};
struct Failed {  // of a write that conflicts, too, and of a lease that cannot be read
  Error error;
};
struct TimePassed {};
struct Nudged {};    // somebody says that the lease is free; only a waiting follower cares
struct Stopping {};  // our work has ended; a request under way was given up
using Input = std::variant<Started, Found, Missing, Written, Failed, TimePassed, Nudged, Stopping>;

// Actions.
struct Read {
  MonoTime deadline;
  bool operator==(const Read&) const = default;
};
struct Create {
  Lease lease;
  MonoTime deadline;
  bool operator==(const Create&) const = default;
};
struct Update {  // refused unless the lease is still at the version that it names
  Lease lease;
  MonoTime deadline;
  bool operator==(const Update&) const = default;
};
struct BecameLeader {
  bool operator==(const BecameLeader&) const = default;
};
struct SawLeader {  // somebody else, or nobody (empty), holds it now
  std::string identity;
  bool operator==(const SawLeader&) const = default;
};
struct LostLeadership {  // for good: the process is to end
  std::string why;
  bool operator==(const LostLeadership&) const = default;
};
struct Warn {  // a try failed
  std::string what;
  bool operator==(const Warn&) const = default;
};
struct Stopped {
  bool operator==(const Stopped&) const = default;
};
using Action =
    std::variant<Read, Create, Update, BecameLeader, SawLeader, LostLeadership, Warn, Stopped>;
using Actions = std::vector<Action>;

}  // namespace election

class Elector {
 public:
  // `random` is borrowed. `config` has passed check().
  Elector(ElectionConfig config, Random& random);

  // Takes one input and returns what to do, in order. `now` must not run backwards; `wall` is only
  // written into the lease.
  [[nodiscard]] election::Actions step(MonoTime now, WallTime wall, election::Input input);

  // When to step(TimePassed) if nothing else comes first; MonoTime::max() when never.
  [[nodiscard]] MonoTime deadline() const;

  [[nodiscard]] bool leads() const { return leads_; }

  // Until when a leader may send writes, the last renewal's sending being what counts;
  // MonoTime::min() for anybody else.
  [[nodiscard]] MonoTime may_act_until() const;

  // Upstream's watchdog for /healthz: a leader whose lease ran out longer than `tolerance` ago
  // hangs. Errors: timeout.
  [[nodiscard]] Status health(MonoTime now, Duration tolerance) const;

 private:
  using Actions = election::Actions;
  enum class State : std::uint8_t { idle, waiting, reading, creating, updating, ended };

  // What decides, of a lease; the rest of it belongs to others.
  struct Record {
    std::string holder;
    Duration duration{};
    std::optional<WallTime> acquired;
    std::optional<WallTime> renewed;
    std::int32_t transitions = 0;
    bool operator==(const Record&) const = default;
  };

  void on(MonoTime now, WallTime wall, const election::Started& started, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::Found& found, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::Missing& missing, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::Written& written, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::Failed& failed, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::TimePassed& passed, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::Nudged& nudged, Actions& actions);
  void on(MonoTime now, WallTime wall, const election::Stopping& stopping, Actions& actions);

  void attempt(MonoTime now, WallTime wall, Actions& actions);
  void read(MonoTime now, Actions& actions);
  void write(MonoTime now, WallTime wall, Actions& actions);
  void release(MonoTime now, WallTime wall, Actions& actions);
  void succeeded(MonoTime now, Actions& actions);
  // `why` empty: nothing is wrong, it is just not ours.
  void failed(MonoTime now, const std::string& why, Actions& actions);
  void lost(std::string why, Actions& actions);
  void stopped(Actions& actions);
  void observe(MonoTime now, const Lease& lease, Actions& actions);
  [[nodiscard]] static Record record_of(const Lease& lease);
  [[nodiscard]] bool held_by_other(MonoTime now) const;
  [[nodiscard]] MonoTime request_deadline(MonoTime now) const;

  ElectionConfig config_;
  Random& random_;
  State state_ = State::idle;
  bool leads_ = false;
  bool releasing_ = false;
  bool optimistic_ = false;  // the update under way relies on what we saw last

  std::optional<Lease> lease_;      // as last seen, for its version and what others keep in it
  std::optional<Record> observed_;  // nothing: never seen
  MonoTime observed_at_{};          // when it last changed or vanished, for us
  bool gone_ = false;               // it is not there since then

  MonoTime next_try_ = MonoTime::max();
  MonoTime tried_at_{};                 // when this try began
  MonoTime sent_at_{};                  // when its write was sent
  MonoTime renewed_at_{};               // when the last write that succeeded was sent
  MonoTime give_up_ = MonoTime::max();  // a leader's, of this round of tries
};

}  // namespace holdfast::sync
