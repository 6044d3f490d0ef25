// Decides whether the cloud can be reached, from what happens to real requests and probes.
//
//   connected --a deadline missed or refused--> suspect --again--> offline --a probe answered-->
//   rejoining --everything replayed and listed--> connected
//
// A black hole (connections accepted, nothing answered) and a refused connection count the same:
// two failures in a row and the link is offline, so it takes two deadlines, whatever the fault. In
// `suspect` a probe is due at once. Offline, probes back off with full jitter, so that a site's
// nodes do not come back in one instant.
//
// Whatever was accepted here meanwhile must reach the cloud, so once a write was, the way back
// leads through a rejoin, even from `suspect`.
//
// An answer of any HTTP status proves that the cloud is there; 503 and 429 in a row do not bring a
// link down, but neither do they bring it back: see Evidence. What such an answer asks for
// (Retry-After) is granted to it: no probe is due before.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::sync {

using namespace std::chrono_literals;

enum class LinkState : std::uint8_t { connected, suspect, offline, rejoining };

[[nodiscard]] std::string_view to_string(LinkState state);

struct LinkConfig {
  int failures_to_offline = 2;
  Duration probe_interval = 10s;    // while connected: the lease's renewal interval
  Duration probe_deadline = 1s;     // for one probe
  Duration probe_backoff_min = 1s;  // offline, before jitter
  Duration probe_backoff_max = 30s;
  Duration retry_after_max = 20s;  // granted to an overloaded cloud: the lease must outlive it
};

// What one request or probe told about the link.
enum class Evidence : std::uint8_t {
  answered,    // the API server answered it
  failed,      // refused, reset, timed out, not HTTP, wrong certificate
  overloaded,  // 429 or 503: there, but not to be leaned on
};

class Link {
 public:
  // Starts `offline`, with a probe due at once: nothing was heard yet. The Random outlives it.
  Link(const LinkConfig& config, Random& random, MonoTime now);

  // Takes the outcome of a request or probe that began at `began`; true when the state changed. Old
  // news (began before the current state was entered) is not believed. `retry_after` goes with
  // `overloaded`.
  bool record(MonoTime now, MonoTime began, Evidence evidence, std::string_view reason,
              Duration retry_after = {});

  // A request failed whose failure says nothing of the link as a whole: while connected, a probe is
  // due at once.
  void probe_now(MonoTime now);

  // A write was accepted here: the cloud does not know of it yet.
  void accepted_locally() { owes_ = true; }

  // The rejoin's last stage is done, or it failed and the link is offline again.
  void rejoined(MonoTime now);
  void rejoin_failed(MonoTime now, std::string_view reason);

  [[nodiscard]] LinkState state() const { return state_; }
  // Whether reads may go to the cloud: connected only. In all other states the cache answers.
  [[nodiscard]] bool may_ask() const { return state_ == LinkState::connected; }
  [[nodiscard]] MonoTime since() const { return since_; }
  // Why the state was entered: "GET ...: deadline passed"; offline, what the last probe met.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Since when all that is heard is that the cloud has too much to do; nothing: it has not.
  [[nodiscard]] std::optional<MonoTime> overloaded_since() const { return overloaded_since_; }

  // When the next probe is due. MonoTime::max() while rejoining.
  [[nodiscard]] MonoTime probe_due() const { return probe_due_; }
  // Tells that a probe is being sent, so that the next one is due later.
  void probing(MonoTime now);

 private:
  void enter(LinkState state, MonoTime now, std::string_view reason);
  bool hear_failure(MonoTime now, MonoTime began, std::string_view reason);
  void miss_probe(MonoTime now, MonoTime began, std::string_view reason);
  void schedule_retry(MonoTime now);

  LinkConfig config_;
  Random& random_;
  LinkState state_ = LinkState::offline;
  MonoTime since_;
  MonoTime probe_due_;
  Duration backoff_;
  int failures_ = 0;
  bool owes_ = false;
  bool probe_under_way_ = false;  // not connected: its failure is the one that counts
  std::optional<MonoTime> overloaded_since_;
  MonoTime rest_until_ = MonoTime::min();  // as an overloaded cloud asked
  std::string reason_ = "not tried yet";
};

}  // namespace holdfast::sync
