// Decides whether the cloud is reachable, from the outcomes of real requests and of probes.
//
//   connected --a deadline missed or refused--> suspect --again--> offline --a probe answered-->
//   rejoining --everything replayed and listed--> connected
//
// A black hole (connections are accepted, nothing is answered) and a refused connection count the
// same: after two failures in a row the link is offline. So detection takes two deadlines at most,
// whatever the fault. In `suspect` a probe is due at once. While offline, probes back off with
// jitter, so that the nodes of a site do not return all at once.
//
// If a write was accepted locally, it must reach the API server before clients read from there. The
// way back then leads through `rejoining`, also from `suspect`.
//
// An answer with any HTTP status proves that the cloud is reachable. 503 and 429 neither take a
// link offline nor bring it back (Evidence::overloaded), and their Retry-After delays the next
// probe.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::sync::autonomy {

using namespace std::chrono_literals;

enum class LinkState : std::uint8_t { connected, suspect, offline, rejoining };

[[nodiscard]] std::string_view to_string(LinkState state);

struct LinkConfig {
  int failures_to_offline = 2;      // failures in a row
  Duration probe_interval = 10s;    // while connected; also the renewal interval of the lease
  Duration probe_deadline = 1s;     // for one probe, on a quick path; see path_time.h
  Duration probe_backoff_min = 1s;  // while offline, before jitter; doubled after each failure
  Duration probe_backoff_max = 30s;
  // The longest Retry-After that is honoured: the lease must not expire meanwhile.
  Duration retry_after_max = 20s;
  Duration change_pause = 10s;  // between two changes of the network that count
};

// What one request or probe shows about the link.
enum class Evidence : std::uint8_t {
  answered,    // the API server answered it
  failed,      // connection refused, reset or timed out, not HTTP, wrong certificate
  overloaded,  // 429 or 503: the server is there, but must be spared
};

class Link {
 public:
  // Starts `offline` with a probe due at once. `random` must outlive the Link.
  Link(const LinkConfig& config, Random& random, MonoTime now);

  // Records the outcome of a request or probe that began at `began`; returns true when the state
  // changed. An outcome that is older than the current state (`began` before since()) does not
  // change the state. `retry_after` is used only with `overloaded`.
  bool record(MonoTime now, MonoTime began, Evidence evidence, std::string_view reason,
              Duration retry_after = {});

  // Makes a probe due soon if the link is connected: at once, but one probe_deadline after the
  // probe before, which tells as much until then, and not before a pause that the server asked for.
  // Call this after a failure that says nothing about the link as a whole; any local client may
  // cause one with each of its requests.
  void probe_now(MonoTime now);

  // Call this when the machine's own network has become better: while offline the backoff starts
  // over, so that a probe is due within a second or so, and returns true. Has no effect more often
  // than every `change_pause`, because pods that start change the network, too.
  bool network_changed(MonoTime now);

  // Up to how long a rejoin is delayed by chance, because all nodes of a site return at the same
  // time: `most`, but before the first one no longer than the API server was out of reach since the
  // start, so that an agent that is restarted is connected soon.
  [[nodiscard]] Duration rejoin_delay_max(MonoTime now, Duration most) const;

  // Call this when a write was accepted that the API server does not have yet.
  void accepted_locally() { has_unsent_writes_ = true; }

  // Call this when a renewal of the lease was granted that was sent at `sent`. While connected, the
  // next probe, which renews it again, is due `probe_interval` later, however the link came to be
  // connected meanwhile.
  void renewed(MonoTime now, MonoTime sent);
  // When the renewal was sent that was granted last; before the first one, the start.
  [[nodiscard]] MonoTime renewed_at() const { return renewed_at_; }

  // End of a rejoin: its last stage is done, or it failed and the link is offline again. The state
  // must be `rejoining`.
  void rejoined(MonoTime now);
  void rejoin_failed(MonoTime now, std::string_view reason);

  [[nodiscard]] LinkState state() const { return state_; }
  // Whether reads may go to the API server: only while connected. Otherwise the cache answers.
  [[nodiscard]] bool allows_reads() const { return state_ == LinkState::connected; }
  // When the current state was entered.
  [[nodiscard]] MonoTime since() const { return since_; }
  // Why the state was entered, such as "GET ...: deadline passed"; while offline, the outcome of
  // the last probe.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Since when the API server has answered 429 or 503 only; std::nullopt: it has not.
  [[nodiscard]] std::optional<MonoTime> overloaded_since() const { return overloaded_since_; }

  // When the next probe is due; MonoTime::max() while rejoining.
  [[nodiscard]] MonoTime probe_due() const { return probe_due_; }
  // Call this when a probe is sent: it schedules the next one.
  void probing(MonoTime now);

 private:
  void enter(LinkState state, MonoTime now, std::string_view reason);
  bool record_failure(MonoTime now, MonoTime began, std::string_view reason);
  void record_failed_probe(MonoTime now, MonoTime began, std::string_view reason);
  void schedule_retry(MonoTime now);
  // When the lease is to be renewed next.
  [[nodiscard]] MonoTime renewal_due() const;

  LinkConfig config_;
  Random& random_;
  const MonoTime started_;
  bool was_connected_ = false;  // since then
  LinkState state_ = LinkState::offline;
  MonoTime since_;
  MonoTime probe_due_;
  MonoTime renewed_at_;
  bool is_hastened_ = false;  // probe_now() was called since the last probe
  Duration backoff_;
  int failures_ = 0;
  bool has_unsent_writes_ = false;  // a write was accepted that the API server does not have yet
  bool probe_under_way_ = false;    // while not connected; only its failure extends the backoff
  std::optional<MonoTime> changed_at_;  // when a change of the network counted last
  std::optional<MonoTime> overloaded_since_;
  // No probe before this time, as Retry-After of an overloaded server asked.
  MonoTime no_probe_before_ = MonoTime::min();
  MonoTime probed_at_ = MonoTime::min();  // when the last probe of a connected link began
  std::string reason_ = "not tried yet";
};

}  // namespace holdfast::sync::autonomy
